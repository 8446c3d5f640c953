// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/unique_fd.h"

namespace dormouse::vmm {

// One connection of the keeper to QEMU: a unix stream socket, never blocking.
//
// Owns the socket. Sending queues without limit; the caller watches queued().
// Lives on the loop's thread; the handlers are called from the loop, on_sent
// also from send(). It may be destroyed in on_closed, not in the others.
class ByteStream {
  public:
    struct Handlers {
        std::function<void(std::string_view bytes)> on_bytes;
        std::function<void(std::size_t bytes)> on_sent;  // so many more were taken by the peer
        std::function<void()> on_closed;                 // once, last of all
    };

    ByteStream(EventLoop& loop, UniqueFd socket, Handlers handlers);
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    // `fd`, when there is one, goes with the first byte.
    void send(std::string bytes, UniqueFd fd = {});
    std::size_t queued() const { return queued_; }
    std::size_t queued_pieces() const { return chunks_.size(); }
    void drop_queued();  // but for the rest of what is half sent with send()

    // While false nothing is read: the peer waits, or keeps it.
    void set_reading(bool reading);
    // Reads what is there, also when reading is off. Does not call on_closed.
    void drain();

  private:
    struct Chunk {
        std::string bytes;
        UniqueFd fd;
    };
    void on_ready(short revents);
    bool read_some();  // false at the end
    bool write_some();
    void update_watch();
    void close();

    EventLoop& loop_;
    UniqueFd socket_;
    Handlers handlers_;
    std::deque<Chunk> chunks_;
    std::size_t offset_ = 0;  // sent of the first chunk
    std::size_t queued_ = 0;
    bool reading_ = true;
    EventLoop::IoWatch watch_;
};

// Connects without blocking. Errc::NotFound or Unavailable while nobody
// listens there.
Result<UniqueFd> connect_unix(const std::filesystem::path& path, int type);
// Replaces a stale socket file; mode 0600.
Result<UniqueFd> listen_unix(const std::filesystem::path& path, int type);

}  // namespace dormouse::vmm

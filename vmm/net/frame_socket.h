// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/unique_fd.h"
#include "vmm/net/frame.h"

namespace dormouse::net {

// The socket to QEMU's network card: one frame is one datagram.
//
// Bound to a path of its own, at which QEMU finds it, and connected to QEMU's:
// nobody else's frames come in. The kernel keeps but few datagrams on the way:
// what does not fit waits here, up to a limit. On the loop's thread.
class FrameSocket {
  public:
    static constexpr std::size_t kMostQueued = 4096;  // frames; later ones are dropped, as on any wire

    using OnFrame = std::function<void(MutableBytes frame)>;

    // Errc::NotFound or Unavailable while QEMU is not there.
    static Result<std::unique_ptr<FrameSocket>> open(EventLoop& loop, const std::filesystem::path& own,
                                                     const std::filesystem::path& peer, OnFrame on_frame,
                                                     std::function<void()> on_lost);
    FrameSocket(const FrameSocket&) = delete;
    FrameSocket& operator=(const FrameSocket&) = delete;

    void send(Bytes frame);

  private:
    FrameSocket(EventLoop& loop, UniqueFd socket, OnFrame on_frame, std::function<void()> on_lost);
    void on_ready(short ready);
    void read_some();
    void write_some();
    enum class Sent { Yes, Full, Lost };
    Sent try_send(Bytes frame);

    UniqueFd socket_;
    OnFrame on_frame_;
    std::function<void()> on_lost_;
    std::vector<std::uint8_t> buffer_;
    std::deque<Frame> queued_;
    EventLoop::IoWatch watch_;
};

}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "hostd/base/event_loop.h"
#include "hostd/base/unique_fd.h"

namespace dormouse::agent {

// The bytes from and to the host: a virtio-serial port, opened when it is there,
// again when it fails. While nobody has connected to its other end, poll() says
// POLLHUP without end and read() gives 0; it is then looked at from time to time.
// The loop's thread.
class Port {
  public:
    struct Events {
        std::function<void()> connected;
        std::function<void()> disconnected;
        std::function<void(std::string_view)> bytes;
    };

    Port(EventLoop& loop, std::filesystem::path path, Events events);
    // For tests: one end of a socketpair, which does not come back once it is closed.
    Port(EventLoop& loop, UniqueFd socket, Events events);
    ~Port();
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    // Dropped while nobody is connected. If the other end reads nothing for so
    // long that kMaxQueue bytes wait, the bytes are dropped, and the session with them.
    void send(std::string bytes);

  private:
    void open();
    void check();
    void hang_up(bool reopen);
    void on_io(short revents);
    bool read_some();
    void write_some();
    void later(Duration delay, void (Port::*what)());

    EventLoop& loop_;
    const std::filesystem::path path_;
    const Events events_;
    UniqueFd fd_;
    EventLoop::IoWatch watch_;
    EventLoop::TimerId timer_ = 0;
    std::deque<std::string> queue_;
    std::size_t queued_ = 0;
    std::size_t written_ = 0;  // of the first in queue_
};

}  // namespace dormouse::agent

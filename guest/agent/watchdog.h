// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "hostd/base/event_loop.h"

namespace dormouse::agent {

// Ends the program when its loop has stood still for half a minute, so that
// systemd starts it anew: libxcb has waits without an end (the handshake of a
// server that hangs, a socket nobody reads). Counts its own rounds, not the
// clock: that jumps when the machine has slept.
class Watchdog {
  public:
    explicit Watchdog(EventLoop& loop);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    void tick();

    EventLoop& loop_;
    EventLoop::TimerId timer_ = 0;
    std::atomic<std::uint64_t> ticks_{0};
    std::jthread thread_;
};

}  // namespace dormouse::agent

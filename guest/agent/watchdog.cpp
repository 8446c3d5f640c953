// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/watchdog.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "hostd/base/log.h"

namespace dormouse::agent {

namespace {

constexpr auto kRound = std::chrono::seconds{5};
constexpr int kPatience = 6;  // rounds

void watch(const std::stop_token& stop, const std::atomic<std::uint64_t>& ticks) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock{mutex};
    std::uint64_t seen = ticks;
    int still = 0;
    while (!stop.stop_requested()) {
        wake.wait_for(lock, stop, kRound, [] { return false; });
        const std::uint64_t now = ticks;
        still = now == seen ? still + 1 : 0;
        seen = now;
        if (still < kPatience || stop.stop_requested()) continue;
        log::error("agent.stuck");
        ::_exit(3);
    }
}

}  // namespace

Watchdog::Watchdog(EventLoop& loop)
    : loop_(loop), thread_([this](const std::stop_token& stop) { watch(stop, ticks_); }) {
    tick();
}

Watchdog::~Watchdog() {
    loop_.cancel_timer(timer_);
}

void Watchdog::tick() {
    ++ticks_;
    timer_ = loop_.after(kRound, [this] { tick(); });
}

}  // namespace dormouse::agent

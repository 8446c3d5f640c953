// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/event_loop.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <limits>

namespace dormouse {

EventLoop::IoWatch& EventLoop::IoWatch::operator=(IoWatch&& other) noexcept {
    if (this != &other) {
        reset();
        loop_ = std::exchange(other.loop_, nullptr);
        id_ = std::exchange(other.id_, 0);
    }
    return *this;
}

void EventLoop::IoWatch::set_events(short events) {
    DORMOUSE_CHECK(loop_ != nullptr);
    loop_->ios_.at(id_).events = events;
}

void EventLoop::IoWatch::reset() {
    if (loop_) loop_->ios_.erase(id_);
    loop_ = nullptr;
}

EventLoop::EventLoop(const Clock& clock) : clock_(clock), wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    DORMOUSE_CHECK(wakeup_);
}

void EventLoop::post(Callback callback) {
    {
        const std::lock_guard lock{mutex_};
        posted_.push_back(std::move(callback));
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wakeup_.get(), &one, sizeof one);
}

void EventLoop::stop() {
    stopped_ = true;
    post([] {});
}

EventLoop::IoWatch EventLoop::watch(int fd, short events, IoCallback callback) {
    IoWatch watch;
    watch.loop_ = this;
    watch.id_ = next_id_++;
    ios_.emplace(watch.id_, Io{fd, events, std::make_shared<IoCallback>(std::move(callback))});
    return watch;
}

EventLoop::TimerId EventLoop::after(Duration delay, Callback callback) {
    const auto id = next_id_++;
    const auto deadline = clock_.now() + delay;
    timers_.emplace(std::pair{deadline, id}, std::move(callback));
    timer_deadlines_.emplace(id, deadline);
    return id;
}

void EventLoop::cancel_timer(TimerId id) {
    const auto found = timer_deadlines_.find(id);
    if (found == timer_deadlines_.end()) return;
    timers_.erase({found->second, id});
    timer_deadlines_.erase(found);
}

Task<void> EventLoop::sleep(Duration delay) {
    Completion<bool> woken{*this};
    after(delay, [woken]() mutable { woken.complete(true); });
    co_await woken;
}

void EventLoop::run() {
    thread_.adopt();
    while (!stopped_) run_round(std::chrono::seconds{60});
    stopped_ = false;
}

void EventLoop::run_once(Duration longest_wait) {
    thread_.adopt();
    run_round(longest_wait);
}

void EventLoop::run_ready() {
    thread_.adopt();
    while (run_round(Duration::zero())) {
    }
}

void EventLoop::drain_wakeups() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wakeup_.get(), &count, sizeof count);
}

bool EventLoop::run_posted() {
    std::vector<Callback> batch;
    {
        const std::lock_guard lock{mutex_};
        batch.swap(posted_);
    }
    for (auto& callback : batch) callback();
    return !batch.empty();
}

bool EventLoop::run_timers() {
    bool ran = false;
    const auto now = clock_.now();
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
        auto node = timers_.extract(timers_.begin());
        timer_deadlines_.erase(node.key().second);
        node.mapped()();
        ran = true;
    }
    return ran;
}

bool EventLoop::run_round(Duration longest_wait) {
    auto wait = longest_wait;
    if (!timers_.empty()) wait = std::min(wait, timers_.begin()->first.first - clock_.now());
    {
        const std::lock_guard lock{mutex_};
        if (!posted_.empty()) wait = Duration::zero();
    }
    wait = std::max(wait, Duration::zero());

    std::vector<pollfd> fds{{wakeup_.get(), POLLIN, 0}};
    std::vector<std::uint64_t> ids{0};
    for (const auto& [id, io] : ios_) {
        fds.push_back({io.fd, io.events, 0});
        ids.push_back(id);
    }
    // Rounded up, so that a timer is due when poll() returns for it.
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    const int limit = static_cast<int>(std::min<std::int64_t>(milliseconds, std::numeric_limits<int>::max()));
    const int ready = ::poll(fds.data(), fds.size(), limit);

    bool did_something = false;
    if (ready > 0) {
        if (fds[0].revents != 0) drain_wakeups();
        for (std::size_t i = 1; i < fds.size(); ++i) {
            if (fds[i].revents == 0) continue;
            const auto found = ios_.find(ids[i]);  // an earlier callback may have removed it
            if (found == ios_.end()) continue;
            const auto callback = found->second.callback;  // kept while it runs
            (*callback)(fds[i].revents);
            did_something = true;
        }
    }
    if (run_timers()) did_something = true;
    if (run_posted()) did_something = true;
    return did_something;
}

Task<bool> sleep_unless_cancelled(EventLoop& loop, Duration delay, Cancel cancel) {
    if (cancel.cancelled()) co_return false;
    Completion<bool> woken{loop};
    const auto timer = loop.after(delay, [woken]() mutable { woken.complete(true); });
    const auto registration = cancel.on_cancel([woken]() mutable { woken.complete(false); });
    const bool whole = co_await woken;
    cancel.forget(registration);
    loop.cancel_timer(timer);
    co_return whole;
}

}  // namespace dormouse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hostd/base/check.h"
#include "hostd/base/clock.h"
#include "hostd/base/task.h"
#include "hostd/base/unique_fd.h"

namespace dormouse {

// One thread's loop over file descriptors, timers and posted work.
//
// Everything but post() and stop() must be called on the thread that runs the
// loop (or before it runs). Callbacks run on that thread, one at a time, never
// from inside a call to the loop. Destroying the loop drops what is pending.
class EventLoop {
  public:
    using Callback = std::function<void()>;
    using IoCallback = std::function<void(short revents)>;
    using TimerId = std::uint64_t;

    // Watches one descriptor until destroyed. The descriptor stays the caller's
    // and must outlive the watch.
    class IoWatch {
      public:
        IoWatch() = default;
        IoWatch(IoWatch&& other) noexcept { *this = std::move(other); }
        IoWatch& operator=(IoWatch&& other) noexcept;
        ~IoWatch() { reset(); }
        void set_events(short events);  // POLLIN, POLLOUT or both
        void reset();
        explicit operator bool() const { return loop_ != nullptr; }

      private:
        friend class EventLoop;
        EventLoop* loop_ = nullptr;
        std::uint64_t id_ = 0;
    };

    explicit EventLoop(const Clock& clock);
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    const Clock& clock() const { return clock_; }

    void post(Callback callback);  // any thread
    void stop();                   // any thread; run() returns soon after

    IoWatch watch(int fd, short events, IoCallback callback);
    TimerId after(Duration delay, Callback callback);
    void cancel_timer(TimerId id);

    // Awaitable: resumes on the loop once `delay` has passed.
    Task<void> sleep(Duration delay);

    void run();                            // until stop()
    void run_once(Duration longest_wait);  // one round; waits at most so long
    void run_ready();                      // rounds without waiting, until nothing is ready

    // Starts `task` and runs the loop until it has ended. For programs of one
    // job and for tests; not from inside the loop.
    template <class T>
    T run_until_complete(Task<T> task);

  private:
    struct Io {
        int fd;
        short events;
        std::shared_ptr<IoCallback> callback;
    };
    bool run_round(Duration longest_wait);  // true when anything was done
    bool run_posted();
    bool run_timers();
    void drain_wakeups();

    const Clock& clock_;
    UniqueFd wakeup_;
    ThreadChecker thread_;
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::vector<Callback> posted_;  // guarded by mutex_
    std::map<std::uint64_t, Io> ios_;
    std::map<std::pair<MonotonicTime, TimerId>, Callback> timers_;
    std::map<TimerId, MonotonicTime> timer_deadlines_;
    std::uint64_t next_id_ = 1;
};

// A value that comes once. Copies share it. The first complete() wins; the one
// who awaits it goes on from the loop, never from inside complete().
template <class T>
class Completion {
  public:
    explicit Completion(EventLoop& loop) : state_(std::make_shared<State>(loop)) {}

    bool complete(T value) {
        if (state_->value) return false;
        state_->value.emplace(std::move(value));
        if (state_->waiting) state_->loop.post([state = state_] { state->waiting.resume(); });
        return true;
    }
    bool done() const { return state_->value.has_value(); }

    auto operator co_await() const {
        struct Awaiter {
            std::shared_ptr<State> state;
            bool await_ready() const { return state->value.has_value(); }
            void await_suspend(std::coroutine_handle<> handle) {
                DORMOUSE_CHECK(!state->waiting);
                state->waiting = handle;
            }
            T await_resume() { return std::move(*state->value); }
        };
        return Awaiter{state_};
    }

  private:
    struct State {
        explicit State(EventLoop& owner) : loop(owner) {}
        EventLoop& loop;
        std::optional<T> value;
        std::coroutine_handle<> waiting;
    };
    std::shared_ptr<State> state_;
};

// Tells work in progress that nobody wants it any more. Copies share it.
class Cancel {
  public:
    Cancel() : state_(std::make_shared<State>()) {}

    void cancel() {
        if (state_->cancelled) return;
        state_->cancelled = true;
        for (auto& [id, callback] : std::exchange(state_->callbacks, {})) callback();
    }
    bool cancelled() const { return state_->cancelled; }
    std::uint64_t on_cancel(std::function<void()> callback) {
        const auto id = state_->next++;
        if (state_->cancelled) {
            callback();
        } else {
            state_->callbacks.emplace(id, std::move(callback));
        }
        return id;
    }
    void forget(std::uint64_t id) { state_->callbacks.erase(id); }

  private:
    struct State {
        bool cancelled = false;
        std::uint64_t next = 1;
        std::map<std::uint64_t, std::function<void()>> callbacks;
    };
    std::shared_ptr<State> state_;
};

// Sleeps, but wakes at once when `cancel` is; true when the whole time passed.
Task<bool> sleep_unless_cancelled(EventLoop& loop, Duration delay, Cancel cancel);

template <class T>
T EventLoop::run_until_complete(Task<T> task) {
    std::optional<T> result;
    // The closure must outlive the coroutine made from it.
    auto body = [](Task<T> inner, std::optional<T>& out) -> Task<void> {
        out.emplace(co_await std::move(inner));
    };
    spawn(body(std::move(task), result));
    while (!result) run_once(std::chrono::seconds{60});
    return std::move(*result);
}

template <>
inline void EventLoop::run_until_complete<void>(Task<void> task) {
    bool done = false;
    auto body = [](Task<void> inner, bool& out) -> Task<void> {
        co_await std::move(inner);
        out = true;
    };
    spawn(body(std::move(task), done));
    while (!done) run_once(std::chrono::seconds{60});
}

}  // namespace dormouse

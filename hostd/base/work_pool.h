// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "hostd/base/event_loop.h"

namespace dormouse {

// A few threads for work that blocks: copying, hashing, encoding, qemu-img.
// Destroying it finishes what is queued, then joins. post() is for any thread.
class WorkPool {
  public:
    explicit WorkPool(unsigned threads);
    ~WorkPool();
    WorkPool(const WorkPool&) = delete;
    WorkPool& operator=(const WorkPool&) = delete;

    void post(std::function<void()> job);

  private:
    void work();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> jobs_;  // guarded by mutex_
    bool stopping_ = false;                   // guarded by mutex_
    std::vector<std::jthread> threads_;
};

// Awaitable on `loop`: runs `body` on `executor` (anything with post()), gives
// its value. `body` must not throw.
template <class Executor, class Body>
auto run_on(Executor& executor, EventLoop& loop, Body body) -> Task<std::invoke_result_t<Body>> {
    using Value = std::invoke_result_t<Body>;
    auto done = std::make_shared<Completion<Value>>(loop);
    // Completion is single-threaded: only the value crosses over.
    executor.post([&loop, done, body = std::move(body)]() mutable {
        auto value = std::make_shared<Value>(body());
        loop.post([done = std::move(done), value] { done->complete(std::move(*value)); });
    });
    co_return co_await *done;
}

}  // namespace dormouse

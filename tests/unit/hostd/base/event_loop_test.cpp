// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/event_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "hostd/base/result.h"
#include "hostd/base/work_pool.h"

namespace dormouse {
namespace {

using namespace std::chrono_literals;

TEST(EventLoop, RunsTimersInTheOrderOfTheirDeadlines) {
    ManualClock clock;
    EventLoop loop{clock};
    std::vector<int> order;
    loop.after(20ms, [&] { order.push_back(2); });
    loop.after(10ms, [&] { order.push_back(1); });
    const auto never = loop.after(15ms, [&] { order.push_back(9); });
    loop.cancel_timer(never);
    loop.run_ready();
    EXPECT_TRUE(order.empty());
    clock.advance(30ms);
    loop.run_ready();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(EventLoop, ACallbackMayRemoveTheWatchThatCalledIt) {
    SystemClock clock;
    EventLoop loop{clock};
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    const UniqueFd one{pair[0]};
    const UniqueFd two{pair[1]};
    int calls = 0;
    EventLoop::IoWatch watch;
    watch = loop.watch(one.get(), POLLIN, [&](short) {
        ++calls;
        watch.reset();
    });
    ASSERT_EQ(::write(two.get(), "x", 1), 1);
    loop.run_ready();
    loop.run_ready();
    EXPECT_EQ(calls, 1);
}

TEST(EventLoop, TakesWorkFromOtherThreads) {
    SystemClock clock;
    EventLoop loop{clock};
    int sum = 0;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (int i = 0; i < 1000; ++i) loop.post([&sum] { ++sum; });
            });
        while (sum < 4000) loop.run_once(1s);
    }
    EXPECT_EQ(sum, 4000);
}

TEST(EventLoop, StopEndsRunFromAnotherThread) {
    SystemClock clock;
    EventLoop loop{clock};
    std::jthread stopper{[&] { loop.stop(); }};
    loop.run();
}

Task<int> add_later(EventLoop& loop, int a, int b) {
    co_await loop.sleep(5ms);
    co_return a + b;
}

TEST(Task, GivesItsValueToTheOneWhoAwaitsIt) {
    SystemClock clock;
    EventLoop loop{clock};
    auto both = [](EventLoop& on) -> Task<int> {
        const int first = co_await add_later(on, 1, 2);
        const int second = co_await add_later(on, first, 10);
        co_return second;
    };
    EXPECT_EQ(loop.run_until_complete(both(loop)), 13);
}

Task<Result<int>> try_something(bool well) {
    if (!well) co_return fail(Errc::NotFound, "no such thing");
    co_return 7;
}

Task<Result<int>> try_twice() {
    DORMOUSE_CO_TRY_ASSIGN(const int seven, co_await try_something(true));
    DORMOUSE_CO_TRY_ASSIGN(const int never, co_await try_something(false));
    co_return seven + never;
}

TEST(Task, PassesAnErrorOn) {
    SystemClock clock;
    EventLoop loop{clock};
    const auto result = loop.run_until_complete(try_twice());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::NotFound);
}

TEST(Completion, TheFirstValueWins) {
    ManualClock clock;
    EventLoop loop{clock};
    Completion<int> completion{loop};
    EXPECT_TRUE(completion.complete(1));
    EXPECT_FALSE(completion.complete(2));
    auto body = [](Completion<int> awaited) -> Task<int> { co_return co_await awaited; };
    EXPECT_EQ(loop.run_until_complete(body(completion)), 1);
}

TEST(Cancel, WakesASleeperAtOnce) {
    ManualClock clock;
    EventLoop loop{clock};
    Cancel cancel;
    std::optional<bool> whole;
    auto body = [](EventLoop& on, Cancel on_cancel, std::optional<bool>& out) -> Task<void> {
        out = co_await sleep_unless_cancelled(on, 1h, on_cancel);
    };
    spawn(body(loop, cancel, whole));
    loop.run_ready();
    EXPECT_FALSE(whole);
    cancel.cancel();
    loop.run_ready();
    EXPECT_EQ(whole, false);
}

TEST(WorkPool, HandsTheValueBackToTheLoop) {
    SystemClock clock;
    EventLoop loop{clock};
    WorkPool pool{2};
    const auto loop_thread = std::this_thread::get_id();
    auto body = [](WorkPool& on_pool, EventLoop& on, std::thread::id home) -> Task<int> {
        int sum = 0;
        for (int i = 0; i < 100; ++i) {
            auto job = run_on(on_pool, on, [i] { return i; });
            sum += co_await std::move(job);
        }
        EXPECT_EQ(std::this_thread::get_id(), home);
        co_return sum;
    };
    EXPECT_EQ(loop.run_until_complete(body(pool, loop, loop_thread)), 4950);
}

}  // namespace
}  // namespace dormouse

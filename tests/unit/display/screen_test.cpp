// SPDX-License-Identifier: Apache-2.0
#include "display/screen.h"

#include <gtest/gtest.h>

#include <thread>

#include "fake_qemu_display.h"

namespace dormouse::display {
namespace {

using namespace std::chrono_literals;
using testing::FakeQemuDisplay;
using testing::Picture;

class ScreenTest : public ::testing::Test {
  protected:
    void attach(FakeQemuDisplay& fake) {
        ASSERT_TRUE(screen->attach(fake.take_client_end()));
        ASSERT_TRUE(fake.accept());
    }
    SystemClock clock;
    EventLoop loop{clock};
    std::unique_ptr<Screen> screen = std::make_unique<Screen>("d-test", loop);
};

TEST_F(ScreenTest, SaysThatNothingIsAttached) {
    EXPECT_FALSE(screen->attached());
    EXPECT_EQ(screen->status().reason.code, Errc::Unavailable);
    EXPECT_EQ(screen->still_job()().error().code, Errc::Unavailable);
    EXPECT_EQ(loop.run_until_complete(screen->wait_live(1s)).error().code, Errc::Unavailable);
}

TEST_F(ScreenTest, WaitsForTheFirstPicture) {
    FakeQemuDisplay fake;
    attach(fake);
    EXPECT_TRUE(screen->attached());
    loop.post([&] { EXPECT_EQ(fake.scanout(Picture{40, 30, 7}.raw()), ""); });
    EXPECT_TRUE(loop.run_until_complete(screen->wait_live(20s)));
    EXPECT_EQ(screen->size(), (Size{40, 30}));
    EXPECT_EQ(screen->still_job()()->size, (Size{40, 30}));
}

TEST_F(ScreenTest, GivesUpWaitingForTheFirstPicture) {
    FakeQemuDisplay fake;
    attach(fake);
    EXPECT_EQ(loop.run_until_complete(screen->wait_live(20ms)).error().code, Errc::Timeout);
}

TEST_F(ScreenTest, TellsManyChangesInOneCall) {
    FakeQemuDisplay fake;
    attach(fake);
    loop.run_ready();
    int calls = 0;
    screen->set_on_change([&] { ++calls; });
    for (Pixel i = 1; i <= 10; ++i) ASSERT_EQ(fake.scanout(Picture{40, 30, i}.raw()), "");
    loop.run_ready();
    EXPECT_EQ(calls, 1);
    ASSERT_EQ(fake.scanout(Picture{40, 30, 99}.raw()), "");
    loop.run_ready();
    EXPECT_EQ(calls, 2);
}

TEST_F(ScreenTest, KeepsThePictureWhenDetachedAndTakesTheNextSource) {
    FakeQemuDisplay first;
    attach(first);
    ASSERT_EQ(first.scanout(Picture{40, 30, 0xff0000ff}.raw()), "");
    screen->detach();
    EXPECT_FALSE(screen->attached());
    EXPECT_EQ(screen->still_job()()->generation, 1U);

    FakeQemuDisplay second;
    attach(second);
    ASSERT_EQ(second.scanout(Picture{40, 30, 0xff0000ff}.raw()), "");  // the same picture
    EXPECT_EQ(screen->status().state, SourceState::Live);
    EXPECT_EQ(screen->generation(), 1U);
}

TEST_F(ScreenTest, WaitsUntilTheScreenHasComeToRest) {
    FakeQemuDisplay fake;
    attach(fake);
    ASSERT_EQ(fake.scanout(Picture{640, 480, 1}.raw()), "");
    SettleOptions options;
    options.quiet = 50ms;
    Pixel picture = 1;
    std::function<void()> draw = [&] {
        ASSERT_EQ(fake.scanout(Picture{640, 480, ++picture}.raw()), "");
        if (picture < 6) loop.after(5ms, draw);
    };
    loop.after(5ms, draw);
    const auto settled = loop.run_until_complete(screen->wait_settled(options, 20s));
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_TRUE(settled->settled);
    EXPECT_EQ(settled->generation, screen->generation());
    EXPECT_GE(settled->took, 75ms);
    EXPECT_GE(clock.now() - screen->framebuffer().changed_at(), 50ms);
}

TEST_F(ScreenTest, GivesUpOnAScreenThatNeverRests) {
    FakeQemuDisplay fake;
    attach(fake);
    ASSERT_EQ(fake.scanout(Picture{640, 480, 1}.raw()), "");
    SettleOptions options;
    options.quiet = 1h;
    const auto settled = loop.run_until_complete(screen->wait_settled(options, 20ms));
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_FALSE(settled->settled);
    EXPECT_GE(settled->took, 20ms);
    EXPECT_EQ(settled->generation, screen->generation());
}

TEST_F(ScreenTest, BlinkingCaretAndTickingClockDoNotKeepItFromSettling) {
    FakeQemuDisplay fake;
    attach(fake);
    ASSERT_EQ(fake.scanout(Picture{640, 480, 1}.raw()), "");
    SettleOptions options;
    options.quiet = 150ms;
    options.blink_min = 25ms;
    Pixel caret = 1, clock_face = 1;
    std::function<void()> blink = [&] {
        ASSERT_EQ(fake.update(100, 100, Picture{2, 16, ++caret}.raw()), "");
        loop.after(50ms, blink);
    };
    std::function<void()> tick = [&] {
        ASSERT_EQ(fake.update(560, 4, Picture{60, 16, ++clock_face}.raw()), "");
        loop.after(100ms, tick);
    };
    loop.after(1ms, blink);
    loop.after(2ms, tick);
    const auto settled = loop.run_until_complete(screen->wait_settled(options, 20s));
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_TRUE(settled->settled);
    EXPECT_GT(caret, 2U);
}

TEST_F(ScreenTest, FilmEndsTheWaitAtItsMaximum) {
    FakeQemuDisplay fake;
    attach(fake);
    ASSERT_EQ(fake.scanout(Picture{640, 480, 1}.raw()), "");
    Pixel picture = 1;
    std::function<void()> draw = [&] {
        ASSERT_EQ(fake.update(0, 0, Picture{640, 240, ++picture}.raw()), "");
        loop.after(10ms, draw);
    };
    draw();
    const auto settled = loop.run_until_complete(screen->wait_settled({}, 300ms));
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_FALSE(settled->settled);
    EXPECT_GE(settled->took, 300ms);
    EXPECT_GT(settled->generation, 1U);
}

TEST_F(ScreenTest, TellsWhichRegionsChangedSinceAPicture) {
    EXPECT_TRUE(screen->changed_regions(nullptr).empty());
    FakeQemuDisplay fake;
    attach(fake);
    ASSERT_EQ(fake.scanout(Picture{640, 480, 1}.raw()), "");
    const auto before = screen->snapshot();
    EXPECT_TRUE(screen->changed_regions(before).empty());
    ASSERT_EQ(fake.update(100, 100, Picture{20, 10, 2}.raw()), "");
    ASSERT_EQ(fake.update(600, 470, Picture{60, 60, 3}.raw()), "");
    EXPECT_EQ(screen->changed_regions(before), (std::vector<Rect>{{100, 100, 20, 10}, {600, 470, 40, 10}}));
    ASSERT_EQ(fake.scanout(Picture{640, 480, 1}.raw()), "");  // as it was, at another generation
    EXPECT_TRUE(screen->changed_regions(before).empty());
    ASSERT_EQ(fake.scanout(Picture{800, 600, 1}.raw()), "");
    EXPECT_EQ(screen->changed_regions(before), (std::vector<Rect>{{0, 0, 800, 600}}));
}

TEST_F(ScreenTest, WakesThoseWhoWaitWhenItIsDestroyed) {
    FakeQemuDisplay fake;
    attach(fake);
    loop.post([&] { screen.reset(); });
    EXPECT_EQ(loop.run_until_complete(screen->wait_live(20s)).error().code, Errc::Unavailable);
}

TEST_F(ScreenTest, CallsNobodyAfterItWasDestroyed) {
    FakeQemuDisplay fake;
    attach(fake);
    int calls = 0;
    loop.run_ready();
    screen->set_on_change([&] { ++calls; });
    ASSERT_EQ(fake.scanout(Picture{40, 30, 1}.raw()), "");
    screen.reset();
    loop.run_ready();
    EXPECT_EQ(calls, 0);
}

TEST_F(ScreenTest, JobOutlivesTheScreen) {
    FakeQemuDisplay fake;
    attach(fake);
    ASSERT_EQ(fake.scanout(Picture{40, 30, 1}.raw()), "");
    const auto job = screen->still_job();
    screen.reset();
    std::thread pool{[&] { EXPECT_TRUE(job()); }};
    pool.join();
}

}  // namespace
}  // namespace dormouse::display

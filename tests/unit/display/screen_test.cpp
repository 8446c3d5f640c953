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
    EXPECT_EQ(screen->take_png().error().code, Errc::Unavailable);
    EXPECT_EQ(loop.run_until_complete(screen->wait_live(1s)).error().code, Errc::Unavailable);
}

TEST_F(ScreenTest, WaitsForTheFirstPicture) {
    FakeQemuDisplay fake;
    attach(fake);
    EXPECT_TRUE(screen->attached());
    loop.post([&] { EXPECT_EQ(fake.scanout(Picture{40, 30, 7}.raw()), ""); });
    EXPECT_TRUE(loop.run_until_complete(screen->wait_live(20s)));
    EXPECT_EQ(screen->size(), (Size{40, 30}));
    EXPECT_EQ(screen->take_png()->size, (Size{40, 30}));
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
    EXPECT_EQ(screen->take_png()->generation, 1U);

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
    EXPECT_EQ(*settled, screen->generation());
    EXPECT_GE(clock.now() - screen->framebuffer().changed_at(), 50ms);
}

TEST_F(ScreenTest, GivesUpOnAScreenThatNeverRests) {
    FakeQemuDisplay fake;
    attach(fake);
    ASSERT_EQ(fake.scanout(Picture{640, 480, 1}.raw()), "");
    SettleOptions options;
    options.quiet = 1h;
    EXPECT_EQ(loop.run_until_complete(screen->wait_settled(options, 20ms)).error().code, Errc::Timeout);
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
    const auto job = screen->png_job();
    screen.reset();
    std::thread pool{[&] { EXPECT_TRUE(job()); }};
    pool.join();
}

}  // namespace
}  // namespace dormouse::display

// SPDX-License-Identifier: Apache-2.0
#include "real_qemu.h"

#include <gtest/gtest.h>

#include "display/screen.h"

namespace dormouse::display {
namespace {

using namespace std::chrono_literals;
using testing::RealQemu;

class RealQemuDisplay : public ::testing::Test {
  protected:
    void SetUp() override {
        if (!RealQemu::installed()) GTEST_SKIP() << "qemu-system-x86_64 is not installed";
        qemu = std::make_unique<RealQemu>();
    }
    SystemClock clock;
    EventLoop loop{clock};
    std::unique_ptr<RealQemu> qemu;
};

TEST_F(RealQemuDisplay, GivesThePictureThatQemuShows) {
    Screen screen{"d-real", loop};
    ASSERT_TRUE(screen.attach(qemu->connect_display()));
    const auto live = loop.run_until_complete(screen.wait_live(20s));
    ASSERT_TRUE(live) << live.error().message;
    // Before a guest driver is there, QEMU shows a placeholder text.
    const auto expected = qemu->screendump();
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(screen.size(), expected.size());
    EXPECT_TRUE(screen.snapshot()->image == expected);
    const auto still = screen.still_job()();
    ASSERT_TRUE(still) << still.error().message;
    EXPECT_EQ(still->size, screen.size());
    EXPECT_EQ(still->generation, screen.generation());
}

TEST_F(RealQemuDisplay, FollowsWhatAGuestDraws) {
    qemu = std::make_unique<RealQemu>("VGA");
    Screen screen{"d-real", loop};
    ASSERT_TRUE(screen.attach(qemu->connect_display()));
    // The firmware writes some lines and gives up after a while.
    SettleOptions options;
    options.quiet = 1s;
    const auto settled = loop.run_until_complete(screen.wait_settled(options, 60s));
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_TRUE(settled->settled);
    EXPECT_GT(settled->generation, 1U);
    const auto expected = qemu->screendump();
    ASSERT_EQ(screen.size(), expected.size());
    const auto snapshot = screen.snapshot();
    const auto& shown = snapshot->image;
    int different = 0;
    int dark = 0;
    for (int y = 0; y < expected.size().height; ++y) {
        for (int x = 0; x < expected.size().width; ++x) {
            different += shown.at(x, y) != expected.at(x, y) ? 1 : 0;
            dark += expected.at(x, y) == 0xff000000 ? 1 : 0;
        }
    }
    EXPECT_LE(different, 9 * 16);  // the text cursor blinks
    EXPECT_LT(dark, 720 * 400 - 1000) << "the firmware wrote nothing";
}

TEST_F(RealQemuDisplay, ShowsTheSameOverVnc) {
    qemu = std::make_unique<RealQemu>("virtio-gpu-pci,xres=1280,yres=800", SourceKind::Vnc);
    Screen screen{"d-real", loop};
    ASSERT_TRUE(screen.attach(qemu->connect_display(), SourceKind::Vnc));
    const auto live = loop.run_until_complete(screen.wait_live(20s));
    ASSERT_TRUE(live) << live.error().message;
    const auto expected = qemu->screendump();
    EXPECT_EQ(screen.size(), expected.size());
    EXPECT_TRUE(screen.snapshot()->image == expected);
}

TEST_F(RealQemuDisplay, FollowsWhatAGuestDrawsOverVncAlsoToAnotherSize) {
    qemu = std::make_unique<RealQemu>("VGA", SourceKind::Vnc);
    Screen screen{"d-real", loop};
    ASSERT_TRUE(screen.attach(qemu->connect_display(), SourceKind::Vnc));
    // QEMU begins with 640x480; the firmware's text mode is 720x400.
    SettleOptions options;
    options.quiet = 1s;
    const auto settled = loop.run_until_complete(screen.wait_settled(options, 60s));
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_TRUE(settled->settled);
    EXPECT_EQ(screen.size(), qemu->screendump().size());
    const auto snapshot = screen.snapshot();
    int lit = 0;
    for (int y = 0; y < snapshot->image.size().height; ++y)
        for (const auto pixel : snapshot->image.row(y)) lit += pixel != 0xff000000 ? 1 : 0;
    EXPECT_GT(lit, 1000) << "the firmware wrote nothing";
}

TEST_F(RealQemuDisplay, IsStillThereForASecondSourceAfterTheFirstWentAway) {
    for (int i = 0; i < 5; ++i) {
        Screen screen{"d-real", loop};
        ASSERT_TRUE(screen.attach(qemu->connect_display()));
        const auto live = loop.run_until_complete(screen.wait_live(20s));
        ASSERT_TRUE(live) << i << ": " << live.error().message;
        EXPECT_FALSE(screen.size().empty());
    }
}

TEST_F(RealQemuDisplay, EndsWithAReasonWhenQemuDies) {
    Screen screen{"d-real", loop};
    ASSERT_TRUE(screen.attach(qemu->connect_display()));
    ASSERT_TRUE(loop.run_until_complete(screen.wait_live(20s)));
    qemu.reset();
    SettleOptions never;
    never.quiet = 1h;
    const auto settled = loop.run_until_complete(screen.wait_settled(never, 20s));
    ASSERT_FALSE(settled);
    EXPECT_EQ(settled.error().code, Errc::Interrupted) << settled.error().message;
    EXPECT_FALSE(screen.attached());
    EXPECT_NE(screen.snapshot(), nullptr);  // the last picture stays
}

}  // namespace
}  // namespace dormouse::display

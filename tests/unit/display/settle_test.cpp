// SPDX-License-Identifier: Apache-2.0
#include "display/settle.h"

#include <gtest/gtest.h>

namespace dormouse::display {
namespace {

using namespace std::chrono_literals;

const MonotonicTime kStart{std::chrono::hours{1}};
const Rect kWholeScreen{0, 0, 1280, 800};
const Rect kCaret{640, 320, 64, 64};
const Rect kClock{1152, 0, 128, 64};

class Settle : public ::testing::Test {
  protected:
    void changed(Duration at, std::vector<Rect> rects) {
        Damage damage;
        damage.generation = ++generation;
        damage.changed_at = kStart + at;
        damage.size = {1280, 800};
        damage.rects = std::move(rects);
        detector.changed(damage);
    }
    bool settled(Duration at) const { return detector.settled(kStart + at); }

    Generation generation = 0;
    SettleDetector detector{SettleOptions{}, kStart};
};

TEST_F(Settle, ScreenWithoutAnyChangeSettlesAfterTheQuietTime) {
    EXPECT_FALSE(settled(499ms));
    EXPECT_TRUE(settled(500ms));
}

TEST_F(Settle, EveryChangeOfALargeAreaStartsTheQuietTimeAgain) {
    changed(400ms, {kWholeScreen});
    changed(800ms, {kWholeScreen});
    EXPECT_FALSE(settled(1299ms));
    EXPECT_TRUE(settled(1300ms));
}

TEST_F(Settle, BlinkingCaretCountsOnceAndNeverAgain) {
    changed(100ms, {kCaret});
    EXPECT_FALSE(settled(599ms));
    changed(630ms, {kCaret});
    changed(1160ms, {kCaret});
    EXPECT_EQ(detector.last_change(), kStart + 100ms);
    EXPECT_TRUE(settled(1160ms));
}

TEST_F(Settle, CaretAndClockTogetherAreStillSmall) {
    changed(100ms, {kCaret});
    changed(200ms, {kClock});
    changed(1000ms, {kClock, kCaret});
    EXPECT_EQ(detector.last_change(), kStart + 200ms);
}

TEST_F(Settle, SmallChangesInQuickSuccessionAreNoBlinking) {
    for (auto at = 0ms; at < 2000ms; at += 100ms) changed(at, {kCaret});
    EXPECT_FALSE(settled(2399ms));
    EXPECT_TRUE(settled(2400ms));
}

TEST_F(Settle, SmallChangeAtANewPlaceCounts) {
    changed(100ms, {kCaret});
    changed(600ms, {kClock});
    EXPECT_FALSE(settled(1000ms));
    EXPECT_TRUE(settled(1100ms));
}

TEST_F(Settle, SmallChangeThatComesBackAfterALongTimeCounts) {
    changed(0ms, {kClock});
    changed(60s, {kClock});
    EXPECT_FALSE(settled(60s + 499ms));
}

TEST_F(Settle, LargeChangeForgetsWhatBlinked) {
    changed(0ms, {kCaret});
    changed(500ms, {kWholeScreen});
    changed(1000ms, {kCaret});
    EXPECT_EQ(detector.last_change(), kStart + 1000ms);
}

TEST_F(Settle, SmallScreenThatChangesItsSizeHasChangedAsAWhole) {
    changed(0ms, {kCaret});
    Damage damage;
    damage.changed_at = kStart + 500ms;
    damage.size = {64, 64};
    damage.resized = true;
    damage.rects = {Rect::whole(damage.size)};
    detector.changed(damage);
    EXPECT_EQ(detector.last_change(), kStart + 500ms);
}

TEST_F(Settle, DamageWithoutRectanglesIsNoChange) {
    changed(400ms, {});
    EXPECT_TRUE(settled(500ms));
}

}  // namespace
}  // namespace dormouse::display

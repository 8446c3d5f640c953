// SPDX-License-Identifier: Apache-2.0
#include "display/framebuffer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "pictures.h"

namespace dormouse::display {
namespace {

using namespace std::chrono_literals;
using testing::Picture;

constexpr Pixel kRed = 0xffff0000;
constexpr Pixel kBlue = 0xff0000ff;

class FramebufferTest : public ::testing::Test {
  protected:
    void show(int width, int height, Pixel fill) {
        ASSERT_TRUE(framebuffer.replace(Picture{width, height, fill}.raw()));
    }
    bool put(int x, int y, const Picture& part) {
        const auto changed = framebuffer.update(x, y, part.raw());
        EXPECT_TRUE(changed);
        return changed.value_or(false);
    }
    ManualClock clock;
    Framebuffer framebuffer{clock};
};

TEST_F(FramebufferTest, HasNothingBeforeTheFirstPicture) {
    EXPECT_EQ(framebuffer.generation(), 0U);
    EXPECT_TRUE(framebuffer.size().empty());
    EXPECT_EQ(framebuffer.snapshot(), nullptr);
    EXPECT_TRUE(framebuffer.damage_since(0).rects.empty());
    EXPECT_EQ(framebuffer.update(0, 0, Picture{1, 1, kRed}.raw()).error().code, Errc::Conflict);
}

TEST_F(FramebufferTest, CountsOnlyRealChanges) {
    show(200, 100, kRed);
    EXPECT_EQ(framebuffer.generation(), 1U);
    const auto first_change = framebuffer.changed_at();
    clock.advance(1s);
    show(200, 100, kRed);
    EXPECT_FALSE(put(10, 10, Picture{50, 50, kRed}));
    EXPECT_EQ(framebuffer.generation(), 1U);
    EXPECT_EQ(framebuffer.changed_at(), first_change);
    EXPECT_TRUE(put(10, 10, Picture{1, 1, kBlue}));
    EXPECT_EQ(framebuffer.generation(), 2U);
    EXPECT_EQ(framebuffer.changed_at(), clock.now());
}

TEST_F(FramebufferTest, IgnoresTheUnusedByteOfAPixel) {
    show(10, 10, 0x00123456);
    EXPECT_FALSE(put(0, 0, Picture{10, 10, 0x77123456}));
    EXPECT_EQ(framebuffer.snapshot()->image.at(3, 3), 0xff123456);
}

TEST_F(FramebufferTest, TellsOnlyTheTilesThatReallyChanged) {
    show(256, 256, kRed);
    // The guest says "all", two pixels differ.
    Picture all{256, 256, kRed};
    all.set(70, 70, kBlue);
    all.set(200, 10, kBlue);
    ASSERT_TRUE(framebuffer.replace(all.raw()));
    const auto damage = framebuffer.damage_since(1);
    EXPECT_EQ(damage.generation, 2U);
    EXPECT_FALSE(damage.resized);
    EXPECT_EQ(damage.rects, (std::vector<Rect>{{192, 0, 64, 64}, {64, 64, 64, 64}}));
}

TEST_F(FramebufferTest, JoinsTilesAndClipsThemToTheScreen) {
    show(150, 100, kRed);
    ASSERT_TRUE(put(65, 1, Picture{85, 99, kBlue}));
    EXPECT_EQ(framebuffer.damage_since(1).rects, (std::vector<Rect>{{64, 0, 86, 100}}));
}

TEST_F(FramebufferTest, AddsUpTheDamageOfSeveralGenerations) {
    show(256, 64, kRed);
    ASSERT_TRUE(put(0, 0, Picture{1, 1, kBlue}));
    ASSERT_TRUE(put(128, 0, Picture{1, 1, kBlue}));
    EXPECT_EQ(framebuffer.damage_since(1).rects, (std::vector<Rect>{{0, 0, 64, 64}, {128, 0, 64, 64}}));
    EXPECT_EQ(framebuffer.damage_since(2).rects, (std::vector<Rect>{{128, 0, 64, 64}}));
    EXPECT_TRUE(framebuffer.damage_since(3).rects.empty());
    EXPECT_TRUE(framebuffer.damage_since(99).rects.empty());
}

TEST_F(FramebufferTest, TakesANewSizeAsDamageOfTheWholeScreen) {
    show(100, 100, 0xff000000);
    show(120, 90, 0xff000000);
    const auto damage = framebuffer.damage_since(1);
    EXPECT_TRUE(damage.resized);
    EXPECT_EQ(damage.size, (Size{120, 90}));
    EXPECT_EQ(damage.rects, (std::vector<Rect>{{0, 0, 120, 90}}));
    EXPECT_FALSE(framebuffer.damage_since(2).resized);
}

TEST_F(FramebufferTest, ClipsWhatReachesOutsideOfTheScreen) {
    show(100, 100, kRed);
    Picture part{20, 20, kBlue};
    EXPECT_TRUE(put(-10, -10, part));
    EXPECT_TRUE(put(90, 95, part));
    const auto image = framebuffer.snapshot()->image;
    EXPECT_EQ(image.at(9, 9), kBlue);
    EXPECT_EQ(image.at(10, 9), kRed);
    EXPECT_EQ(image.at(99, 99), kBlue);
    EXPECT_EQ(image.at(89, 99), kRed);
    EXPECT_FALSE(put(100, 0, part));
    EXPECT_FALSE(put(0, -20, part));
}

TEST_F(FramebufferTest, SurvivesPositionsAtTheEndsOfAllNumbers) {
    show(100, 100, kRed);
    constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
    constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
    for (const auto x : {kMin, std::int64_t{INT32_MIN}, std::int64_t{INT32_MAX}, kMax})
        for (const auto y : {kMin, std::int64_t{0}, std::int64_t{INT32_MAX}, kMax})
            EXPECT_FALSE(framebuffer.update(x, y, Picture{20, 20, kBlue}.raw()).value());
    EXPECT_EQ(framebuffer.generation(), 1U);
}

TEST_F(FramebufferTest, ChangesNothingWhenItRefuses) {
    show(100, 100, kRed);
    const Picture small{50, 50, kBlue};
    auto raw = small.raw();
    raw.data = raw.data.first(raw.data.size() - 1);
    EXPECT_FALSE(framebuffer.replace(raw));
    EXPECT_FALSE(framebuffer.update(0, 0, raw));
    raw.width = 100'000;
    EXPECT_FALSE(framebuffer.replace(raw));
    EXPECT_EQ(framebuffer.generation(), 1U);
    EXPECT_EQ(framebuffer.size(), (Size{100, 100}));
}

TEST_F(FramebufferTest, CopiesASnapshotOnceAndLeavesItAloneAfterwards) {
    show(64, 64, kRed);
    const auto before = framebuffer.snapshot();
    EXPECT_EQ(framebuffer.snapshot(), before);
    ASSERT_TRUE(put(0, 0, Picture{64, 64, kBlue}));
    const auto after = framebuffer.snapshot();
    EXPECT_EQ(before->image, (Image{{64, 64}, kRed}));
    EXPECT_EQ(after->image, (Image{{64, 64}, kBlue}));
    EXPECT_EQ(after->generation, before->generation + 1);
}

TEST_F(FramebufferTest, TurnsBlackWhenTheScreenIsTurnedOff) {
    framebuffer.blank();
    EXPECT_EQ(framebuffer.generation(), 0U);
    show(70, 70, kRed);
    framebuffer.blank();
    EXPECT_EQ(framebuffer.snapshot()->image, (Image{{70, 70}}));
    EXPECT_EQ(framebuffer.damage_since(1).rects, (std::vector<Rect>{{0, 0, 70, 70}}));
    framebuffer.blank();
    EXPECT_EQ(framebuffer.generation(), 2U);
}

TEST_F(FramebufferTest, KeepsTheCursorApartFromThePicture) {
    show(64, 64, kRed);
    const std::vector<std::byte> argb(4 * 4 * 4, std::byte{0x7f});
    ASSERT_TRUE(framebuffer.set_cursor_shape(4, 4, 1, 2, argb));
    framebuffer.set_cursor_position(10, 20, true);
    framebuffer.set_cursor_position(10, 20, true);
    const auto cursor = framebuffer.cursor();
    EXPECT_EQ(cursor.generation, 2U);
    EXPECT_EQ(cursor.shape->image.size(), (Size{4, 4}));
    EXPECT_EQ(cursor.shape->image.at(3, 3), 0x7f7f7f7fU);
    EXPECT_TRUE(cursor.visible);
    EXPECT_EQ(framebuffer.generation(), 1U);
}

TEST_F(FramebufferTest, RefusesCursorsThatAreTooLargeOrTooShort) {
    const std::vector<std::byte> argb(64);
    EXPECT_FALSE(framebuffer.set_cursor_shape(4, 5, 0, 0, argb));
    EXPECT_FALSE(framebuffer.set_cursor_shape(0, 4, 0, 0, argb));
    EXPECT_FALSE(framebuffer.set_cursor_shape(-4, -4, 0, 0, argb));
    EXPECT_FALSE(framebuffer.set_cursor_shape(INT32_MAX, INT32_MAX, 0, 0, argb));
    EXPECT_EQ(framebuffer.cursor().generation, 0U);
}

TEST(FramebufferThreads, ReadersSeeWholePicturesWhileTheFrameThreadWrites) {
    SystemClock clock;
    Framebuffer framebuffer{clock};
    std::atomic<bool> done{false};
    std::thread writer{[&] {
        for (Pixel i = 1; i <= 300; ++i)
            ASSERT_TRUE(framebuffer.replace(Picture{130, 70, 0xff000000 | i}.raw()));
        done = true;
    }};
    Generation last = 0;
    while (!done) {
        const auto snapshot = framebuffer.snapshot();
        if (!snapshot) continue;
        EXPECT_GE(snapshot->generation, last);
        last = snapshot->generation;
        EXPECT_EQ(snapshot->image.at(0, 0), 0xff000000 | snapshot->generation);
        EXPECT_EQ(snapshot->image.at(129, 69), snapshot->image.at(0, 0));
        EXPECT_LE(framebuffer.damage_since(last).rects.size(), 1U);
    }
    writer.join();
    EXPECT_EQ(framebuffer.generation(), 300U);
}

}  // namespace
}  // namespace dormouse::display

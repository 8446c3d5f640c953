// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "recording_input.h"

namespace dormouse::desktop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr ScreenSize kScreen{1280, 800};

class InputDeviceTest : public testing::Test {
  protected:
    template <class T>
    T drive_task(Task<T> task) {
        return drive(clock, loop, std::move(task));
    }

    ManualClock clock;
    EventLoop loop{clock};
    RecordingGuest guest{loop};
    InputDevice input{loop, guest.send()};
};

TEST(AxisValue, IsTheCentreOfThePixelAsTheGuestMapsItBack) {
    EXPECT_EQ(axis_value(0, 1280), 12);
    EXPECT_EQ(axis_value(1279, 1280), 32755);
    EXPECT_EQ(axis_value(640, 1280), 16396);
    for (const int size : {1, 2, 3, 640, 800, 1080, 1280, 1366, 1920, 2560, 3840, 7680}) {
        for (int pixel = 0; pixel < size; ++pixel) {
            const int value = axis_value(pixel, size);
            ASSERT_GE(value, 0);
            ASSERT_LE(value, 0x7fff);
            ASSERT_EQ(static_cast<long long>(value) * size / 32768, pixel) << "of " << size;
        }
    }
}

TEST(InputEvents, HaveTheFormOfQmp) {
    ManualClock clock;
    EventLoop loop{clock};
    std::vector<std::string> sent;
    InputDevice input{loop, [&sent](nlohmann::json events) -> Task<Result<>> {
                          sent.push_back(events.dump());
                          return [](int) -> Task<Result<>> { co_return Result<>{}; }(0);
                      }};
    ASSERT_TRUE(drive(clock, loop, input.move({0, 799}, kScreen, Cancel{})));
    ASSERT_TRUE(drive(clock, loop, input.set_key("ctrl", true)));
    ASSERT_TRUE(drive(clock, loop, input.set_button(Button::Right, false)));
    EXPECT_THAT(
        sent,
        ElementsAre(
            R"([{"data":{"axis":"x","value":12},"type":"abs"},{"data":{"axis":"y","value":32747},"type":"abs"}])",
            R"([{"data":{"down":true,"key":{"data":"ctrl","type":"qcode"}},"type":"key"}])",
            R"([{"data":{"button":"right","down":false},"type":"btn"}])"));
}

TEST_F(InputDeviceTest, ADoubleClickIsTwoClicksCloseTogether) {
    ASSERT_TRUE(drive_task(input.click(Button::Left, 2, Cancel{})));
    EXPECT_EQ(guest.words(), "left v, left ^, left v, left ^");
    EXPECT_GE(guest.times[1] - guest.times[0], 20ms);
    EXPECT_GE(guest.times[2] - guest.times[1], 50ms);
    EXPECT_LE(guest.times[2] - guest.times[1], 90ms);
    EXPECT_LT(guest.times[2] - guest.times[0], 250ms);  // the shortest double-click time in use
    EXPECT_THAT(input.down(), IsEmpty());
}

TEST_F(InputDeviceTest, AChordIsReleasedInTheReverseOrderWithPausesBetweenTheEdges) {
    ASSERT_TRUE(drive_task(input.press_chord({{"ctrl", "shift", "t"}}, Cancel{})));
    EXPECT_EQ(guest.words(), "ctrl v, shift v, t v, t ^, shift ^, ctrl ^");
    for (std::size_t i = 1; i < guest.times.size(); ++i) EXPECT_GE(guest.times[i] - guest.times[i - 1], 2ms);
    EXPECT_THAT(guest.report_sizes, testing::Each(1u));
}

TEST_F(InputDeviceTest, TypingHoldsShiftWhileItIsNeeded) {
    ASSERT_TRUE(drive_task(input.type("aBC!d\n\t", Cancel{})));
    EXPECT_EQ(
        guest.words(),
        "a v, a ^, shift v, b v, b ^, c v, c ^, 1 v, 1 ^, shift ^, d v, d ^, ret v, ret ^, tab v, tab ^");
    for (std::size_t i = 1; i < guest.times.size(); ++i) EXPECT_GE(guest.times[i] - guest.times[i - 1], 2ms);
}

TEST_F(InputDeviceTest, TypingThatEndsWithShiftReleasesIt) {
    ASSERT_TRUE(drive_task(input.type("Hi?", Cancel{})));
    EXPECT_EQ(guest.words(), "shift v, h v, h ^, shift ^, i v, i ^, shift v, slash v, slash ^, shift ^");
}

TEST_F(InputDeviceTest, ScrollingSendsOneWheelPressAndReleaseForEachClick) {
    ASSERT_TRUE(drive_task(input.scroll(ScrollDirection::Down, 2, Cancel{})));
    ASSERT_TRUE(drive_task(input.scroll(ScrollDirection::Up, 1, Cancel{})));
    EXPECT_EQ(guest.words(),
              "wheel-down v, wheel-down ^, wheel-down v, wheel-down ^, wheel-up v, wheel-up ^");
}

TEST_F(InputDeviceTest, ADragMovesInStepsWhileTheButtonIsDownAndRestsAtBothEnds) {
    ASSERT_TRUE(drive_task(input.drag({{10, 10}, {410, 210}}, kScreen, Cancel{})));
    const auto steps = static_cast<std::size_t>(pacing::kDragSteps);
    ASSERT_THAT(guest.log, SizeIs(steps + 3));
    const auto place = [](int x, int y) {
        return fmt::format("to {},{}", axis_value(x, kScreen.width), axis_value(y, kScreen.height));
    };
    EXPECT_EQ(guest.log[0], place(10, 10));
    EXPECT_EQ(guest.log[1], "left v");
    EXPECT_EQ(guest.log[2], place(30, 20));
    EXPECT_EQ(guest.log[steps + 1], place(410, 210));
    EXPECT_EQ(guest.log.back(), "left ^");
    EXPECT_GE(guest.times[2] - guest.times[1], 100ms);
    for (std::size_t i = 3; i <= steps + 1; ++i) EXPECT_GE(guest.times[i] - guest.times[i - 1], 8ms);
    EXPECT_GE(guest.times.back() - guest.times[steps + 1], 100ms);
}

TEST_F(InputDeviceTest, ADragTakesMoreTimeWhereTheGuestIsEmulated) {
    input.set_drag_pace(3);
    ASSERT_TRUE(drive_task(input.drag({{10, 10}, {410, 210}}, kScreen, Cancel{})));
    const auto steps = static_cast<std::size_t>(pacing::kDragSteps);
    EXPECT_GE(guest.times[2] - guest.times[1], 3 * pacing::kDragGrip);
    EXPECT_GE(guest.times.back() - guest.times[steps + 1], 3 * pacing::kDragRelease);
}

TEST_F(InputDeviceTest, AShortDragDoesNotSendTheSamePlaceTwice) {
    ASSERT_TRUE(drive_task(input.drag({{5, 5}, {7, 5}}, kScreen, Cancel{})));
    EXPECT_THAT(guest.log, SizeIs(5));  // place, press, two moves, release
}

TEST_F(InputDeviceTest, RememberedAsDownIsAlsoWhatMayHaveArrived) {
    guest.failing = {0};
    guest.loss = RecordingGuest::Loss::OnTheWayBack;
    EXPECT_EQ(drive_task(input.set_key("ctrl", true)).error().code, Errc::Interrupted);
    EXPECT_THAT(input.down(), ElementsAre("ctrl"));
    ASSERT_TRUE(drive_task(input.release_all()));
    EXPECT_THAT(guest.down, IsEmpty());
    EXPECT_THAT(input.down(), IsEmpty());
}

TEST_F(InputDeviceTest, ReleasesButtonsFirstAndKeysFromTheLastPressed) {
    for (const auto key : {"ctrl", "shift", "a"}) ASSERT_TRUE(drive_task(input.set_key(key, true)));
    ASSERT_TRUE(drive_task(input.set_button(Button::Left, true)));
    guest.log.clear();
    ASSERT_TRUE(drive_task(input.release_all()));
    EXPECT_EQ(guest.words(), "left ^, a ^, shift ^, ctrl ^");
}

TEST_F(InputDeviceTest, ReleasingGoesOnAfterAFailureAndTriesThatOneAgain) {
    for (const auto key : {"ctrl", "alt", "delete"}) ASSERT_TRUE(drive_task(input.set_key(key, true)));
    guest.failing = {4};  // the second release
    ASSERT_TRUE(drive_task(input.release_all()));
    EXPECT_THAT(guest.down, IsEmpty());
}

TEST_F(InputDeviceTest, WhatCouldNotBeReleasedIsRememberedForTheNextTime) {
    ASSERT_TRUE(drive_task(input.set_key("ctrl", true)));
    guest.die_at(0);
    EXPECT_FALSE(drive_task(input.release_all()));
    EXPECT_THAT(input.down(), ElementsAre("ctrl"));
    guest.recover();
    EXPECT_TRUE(drive_task(input.release_all()));
    EXPECT_THAT(guest.down, IsEmpty());
}

TEST_F(InputDeviceTest, KeepsTheLeftButtonDownOnlyWhereItWasAskedFor) {
    ASSERT_TRUE(drive_task(input.press_left(Cancel{})));
    ASSERT_TRUE(drive_task(input.set_key("ctrl", true)));
    ASSERT_TRUE(drive_task(input.release_all_but_kept()));
    EXPECT_THAT(guest.down, ElementsAre("left"));
    EXPECT_TRUE(input.keeps_left());
    ASSERT_TRUE(drive_task(input.release_all()));
    EXPECT_THAT(guest.down, IsEmpty());
    EXPECT_FALSE(input.keeps_left());
    // Down, but not on purpose.
    ASSERT_TRUE(drive_task(input.set_button(Button::Left, true)));
    ASSERT_TRUE(drive_task(input.release_all_but_kept()));
    EXPECT_THAT(guest.down, IsEmpty());
}

TEST_F(InputDeviceTest, AsksNowAndThenWhetherTheGuestHasTakenAll) {
    std::vector<std::pair<std::size_t, std::optional<Point>>> syncs;  // after how many sends, and where
    InputDevice asking{loop, guest.send(), [&](std::optional<Point> position) {
                           syncs.emplace_back(guest.sends, position);
                           return [](EventLoop* of) -> Task<void> { co_await of->sleep(70ms); }(&loop);
                       }};
    ASSERT_TRUE(drive_task(asking.type("abcdefgh", Cancel{})));
    ASSERT_THAT(syncs, SizeIs(1));
    EXPECT_EQ(syncs[0].first, 15u);  // two entries each
    EXPECT_FALSE(syncs[0].second);
    EXPECT_GE(guest.times[15] - guest.times[14], 70ms);
    syncs.clear();
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(drive_task(asking.move({i, i}, kScreen, Cancel{})));
        ASSERT_TRUE(drive_task(asking.click(Button::Left, 1, Cancel{})));
    }
    EXPECT_GE(syncs.size(), 4u);  // seven entries a click
    EXPECT_TRUE(syncs.back().second);
}

TEST_F(InputDeviceTest, RemembersWhereItSentThePointer) {
    EXPECT_FALSE(input.position());
    ASSERT_TRUE(drive_task(input.move({3, 4}, kScreen, Cancel{})));
    EXPECT_EQ(input.position(), (Point{3, 4}));
    ASSERT_TRUE(drive_task(input.drag({{5, 5}, {7, 9}}, kScreen, Cancel{})));
    EXPECT_EQ(input.position(), (Point{7, 9}));
}

TEST_F(InputDeviceTest, NothingDownMeansNothingIsSent) {
    ASSERT_TRUE(drive_task(input.release_all()));
    EXPECT_EQ(guest.sends, 0u);
}

TEST_F(InputDeviceTest, ACancelledGestureEndsAtOnce) {
    Cancel cancel;
    guest.on_send = [&cancel] { cancel.cancel(); };
    const auto begun = clock.now();
    const auto result = drive_task(input.drag({{0, 0}, {500, 500}}, kScreen, cancel));
    EXPECT_EQ(result.error().code, Errc::Interrupted);
    EXPECT_LE(clock.now() - begun, 5ms);
    EXPECT_EQ(guest.sends, 1u);
}

TEST_F(InputDeviceTest, TheUnknownPastIsReleasedInSmallGroupsThatFitTheQueue) {
    guest.down = {"ctrl", "left", "shift_r", "z"};  // pressed by a daemon that is no more
    ASSERT_TRUE(drive_task(input.release_everything_unknown()));
    EXPECT_THAT(guest.down, IsEmpty());
    const auto events = std::accumulate(guest.report_sizes.begin(), guest.report_sizes.end(), std::size_t{0});
    EXPECT_EQ(events, pressable_keys().size() + 5);
    for (const auto size : guest.report_sizes) EXPECT_LE(size, 8u);  // and the report's end: 9 of 64
    for (std::size_t i = 1; i < guest.times.size(); ++i) EXPECT_GE(guest.times[i] - guest.times[i - 1], 10ms);
    for (const auto& word : guest.log) EXPECT_EQ(word.back(), '^');
    EXPECT_LT(guest.times.back() - guest.times.front(), 1s);
}

}  // namespace
}  // namespace dormouse::desktop

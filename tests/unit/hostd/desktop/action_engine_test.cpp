// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/action_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "recording_input.h"

namespace dormouse::desktop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// The agent's end of pasting: remembers what it was asked for.
struct FakeClipboard {
    EventLoop& loop;
    std::string shortcut = "ctrl+v";
    bool fetched = true;
    std::optional<Error> begin_fails;
    std::vector<std::string> calls;
    int begun = 0;
    int restored = 0;

    static Task<Result<std::string>> begin(FakeClipboard* self, std::string text) {
        self->calls.push_back("begin " + text);
        co_await self->loop.sleep(1ms);
        if (self->begin_fails) co_return fail(*self->begin_fails);
        ++self->begun;
        co_return self->shortcut;
    }
    static Task<Result<bool>> wait(FakeClipboard* self, Duration timeout, Cancel cancel) {
        self->calls.emplace_back("wait");
        const Duration time = self->fetched ? Duration{20ms} : timeout;
        co_await sleep_unless_cancelled(self->loop, time, cancel);
        co_return self->fetched;
    }
    static Task<void> ready(FakeClipboard* self) { co_await self->loop.sleep(1ms); }
    static Task<Result<>> restore(FakeClipboard* self) {
        self->calls.emplace_back("restore");
        ++self->restored;
        co_await self->loop.sleep(1ms);
        co_return Result<>{};
    }
    PastePort port() {
        return {[this](std::string text) { return begin(this, std::move(text)); },
                [this] { return ready(this); },
                [this](Duration timeout, Cancel cancel) { return wait(this, timeout, cancel); },
                [this] { return restore(this); }};
    }
};

// One desktop with its time. Made anew for each run of a property test.
struct Bench {
    ManualClock clock;
    EventLoop loop{clock};
    RecordingGuest guest{loop};
    FakeClipboard clipboard{.loop = loop, .begin_fails = {}, .calls = {}};
    ScreenSize screen{1280, 800};
    int screenshots = 0;
    std::vector<PictureOptions> pictures;  // as they were asked for
    std::optional<Point> pointer;          // as the agent tells, if it is there
    bool has_agent = false;
    std::vector<std::string> turned;  // by the agent
    std::optional<Error> screenshot_fails;
    std::shared_ptr<InputDevice> input = std::make_shared<InputDevice>(loop, guest.send());
    Cancel cancel;

    static Task<Result<Picture>> take(Bench* self, PictureOptions options) {
        co_await self->loop.sleep(3ms);
        self->pictures.push_back(options);
        if (self->screenshot_fails) co_return fail(*self->screenshot_fails);
        ++self->screenshots;
        co_return Picture{std::make_shared<const std::string>("png"), 1280, 800, 7};
    }
    static Task<Result<Point>> find_pointer(Bench* self) {
        co_await self->loop.sleep(1ms);
        if (!self->pointer) co_return fail(Errc::Unavailable, "no agent");
        co_return *self->pointer;
    }
    static Task<Result<bool>> turn(Bench* self, WheelTurns turns) {
        co_await self->loop.sleep(1ms);
        if (!self->has_agent) co_return false;
        std::string word = fmt::format("{} x{}", static_cast<int>(turns.direction), turns.amount);
        for (const auto key : turns.held.keys) word += fmt::format(" {}", key);
        if (turns.at) word += fmt::format(" at {},{}", turns.at->x, turns.at->y);
        self->turned.push_back(std::move(word));
        co_return true;
    }
    static Task<void> show(Bench* self) {
        self->clipboard.calls.emplace_back("shown");
        co_await self->loop.sleep(5ms);
    }
    static Task<Result<>> react(Bench* self) {
        if (!self->awaited) co_return Result<>{};
        self->reactions.push_back(*std::exchange(self->awaited, std::nullopt));
        co_await self->loop.sleep(40ms);
        co_return Result<>{};
    }
    ActionPorts ports() {
        return {&loop,
                input,
                [this] { return screen; },
                [this](PictureOptions wanted) { return take(this, wanted); },
                clipboard.port(),
                {[this] { return find_pointer(this); },
                 [this](WheelTurns turns) { return turn(this, std::move(turns)); }},
                [this] { return ++generation; },
                [this](std::uint64_t before) { awaited = before; },
                [this](Cancel) { return react(this); },
                [this](std::uint64_t, Cancel) { return show(this); }};
    }
    std::uint64_t generation = 0;
    std::optional<std::uint64_t> awaited;
    std::vector<std::uint64_t> reactions;  // the generations that were given
    ActAnswer run(std::vector<Action> actions, Duration step = 1ms) {
        return drive(clock, loop, run_actions(ports(), std::move(actions), options, cancel), step);
    }
    ActOptions options;
};

std::string at(int x, int y) {
    return fmt::format("to {},{}", axis_value(x, 1280), axis_value(y, 800));
}

TEST(RunActions, PerformsInOrderAndTellsHowLongEachTook) {
    Bench bench;
    const auto answer = bench.run({ClickAction{Button::Left, 1, Point{10, 20}}, KeyAction{"ctrl+s"},
                                   WaitAction{2s}, ScreenshotAction{}});
    EXPECT_FALSE(answer.failure);
    EXPECT_EQ(bench.guest.words(), at(10, 20) + ", left v, left ^, ctrl v, s v, s ^, ctrl ^");
    ASSERT_THAT(answer.done, SizeIs(4));
    EXPECT_EQ(answer.done[0].action, "left_click");
    EXPECT_GE(answer.done[0].took, 50ms);
    EXPECT_GE(answer.done[2].took, 2000ms);
    EXPECT_LE(answer.done[2].took, 2010ms);
    EXPECT_EQ(answer.done[3].action, "screenshot");
    ASSERT_TRUE(answer.done[3].picture);
    EXPECT_EQ(*answer.done[3].picture->bytes, "png");
    EXPECT_FALSE(answer.done[0].picture);
}

TEST(RunActions, WaitsForTheEffectWhereKeysFollowWhatMovesTheFocus) {
    Bench bench;
    EXPECT_FALSE(bench
                     .run({KeyAction{"ctrl+l"}, TypeAction{"a"}, KeyAction{"Return"}, MoveAction{{1, 1}},
                           ClickAction{Button::Left, 1, Point{5, 5}}, TypeAction{"b"}, KeyAction{"Tab"}})
                     .failure);
    // After ctrl+l and after the click; not after typing.
    EXPECT_THAT(bench.reactions, testing::ElementsAre(1u, 6u));
    // What came last is waited for by the next call.
    EXPECT_FALSE(bench.run({MoveAction{{2, 2}}}).failure);
    EXPECT_THAT(bench.reactions, testing::SizeIs(2));
    EXPECT_FALSE(bench.run({TypeAction{"c"}}).failure);
    EXPECT_THAT(bench.reactions, testing::ElementsAre(1u, 6u, 9u));
    EXPECT_GE(bench.guest.times[4] - bench.guest.times[3], 40ms);
}

TEST(RunActions, MovesBeforeItClicksAndPausesBetween) {
    Bench bench;
    EXPECT_FALSE(bench.run({ClickAction{Button::Right, 1, Point{1279, 799}}}).failure);
    EXPECT_EQ(bench.guest.words(), at(1279, 799) + ", right v, right ^");
    EXPECT_GE(bench.guest.times[1] - bench.guest.times[0], 10ms);
}

TEST(RunActions, ClicksWhereThePointerIsWithoutACoordinate) {
    Bench bench;
    EXPECT_FALSE(bench.run({MoveAction{{5, 5}}, ClickAction{Button::Left, 2, std::nullopt}}).failure);
    EXPECT_EQ(bench.guest.words(), at(5, 5) + ", left v, left ^, left v, left ^");
    EXPECT_GE(bench.guest.times[1] - bench.guest.times[0], 10ms);
}

TEST(RunActions, ScrollsAtACoordinate) {
    Bench bench;
    EXPECT_FALSE(bench.run({ScrollAction{ScrollDirection::Up, 2, Point{3, 4}}}).failure);
    EXPECT_EQ(bench.guest.words(), at(3, 4) + ", wheel-up v, wheel-up ^, wheel-up v, wheel-up ^");
}

TEST(RunActions, DragsFromOnePlaceToTheOther) {
    Bench bench;
    EXPECT_FALSE(bench.run({DragAction{Point{100, 100}, {{300, 100}}}}).failure);
    EXPECT_THAT(bench.guest.words(), StartsWith(at(100, 100) + ", left v, " + at(110, 100)));
    EXPECT_THAT(bench.guest.words(), testing::EndsWith(at(300, 100) + ", left ^"));
}

TEST(RunActions, TypesByKeysAndPastesWhatKeysCannotWrite) {
    Bench bench;
    EXPECT_FALSE(bench.run({TypeAction{"a\nnaïve\tb"}}).failure);
    EXPECT_EQ(bench.guest.words(),
              "a v, a ^, ret v, ret ^, ctrl v, v v, v ^, ctrl ^, tab v, tab ^, b v, b ^");
    EXPECT_THAT(bench.clipboard.calls, ElementsAre("shown", "begin naïve", "wait", "shown", "restore"));
}

TEST(RunActions, PastesByTheShortcutThatTheAgentNames) {
    Bench bench;
    bench.clipboard.shortcut = "ctrl+shift+v";
    EXPECT_FALSE(bench.run({TypeAction{"Ω"}}).failure);
    EXPECT_EQ(bench.guest.words(), "ctrl v, shift v, v v, v ^, shift ^, ctrl ^");
}

TEST(RunActions, APasteThatNobodyTakesTimesOutWithAHintAndRestoresTheClipboard) {
    Bench bench;
    bench.clipboard.fetched = false;
    const auto answer = bench.run({TypeAction{"Ω"}, KeyAction{"Return"}});
    ASSERT_TRUE(answer.failure);
    EXPECT_EQ(answer.failure->code, Errc::Timeout);
    EXPECT_THAT(answer.failure->message, HasSubstr("within 8 s after ctrl+v"));
    EXPECT_THAT(answer.failure->hint, HasSubstr("focus"));
    EXPECT_EQ(bench.clipboard.restored, 1);
    EXPECT_EQ(bench.guest.words(), "ctrl v, v v, v ^, ctrl ^");
}

TEST(RunActions, ReportsThatTheAgentIsNotThere) {
    Bench bench;
    bench.clipboard.begin_fails = Error{Errc::Unavailable, "the agent does not answer", "", 0};
    const auto answer = bench.run({TypeAction{"Ω"}});
    ASSERT_TRUE(answer.failure);
    EXPECT_EQ(answer.failure->code, Errc::Unavailable);
    EXPECT_EQ(answer.failure->message, "cannot put the text on the clipboard: the agent does not answer");
    // Its answer may be all that was lost.
    EXPECT_EQ(bench.clipboard.restored, 1);
    EXPECT_EQ(bench.guest.sends, 0u);
}

TEST(RunActions, AShortcutThatIsNoneStillRestoresTheClipboard) {
    Bench bench;
    bench.clipboard.shortcut = "paste please";
    EXPECT_EQ(bench.run({TypeAction{"Ω"}}).failure->code, Errc::InvalidArgument);
    EXPECT_EQ(bench.clipboard.restored, 1);
}

TEST(RunActions, ChecksAllBeforeTheFirstIsCarriedOut) {
    const auto refused = [](Action wrong) {
        Bench bench;
        const auto answer = bench.run({KeyAction{"a"}, ScreenshotAction{}, std::move(wrong)});
        EXPECT_TRUE(answer.failure);
        EXPECT_EQ(answer.failed_at, 2u);
        EXPECT_THAT(answer.done, IsEmpty());
        EXPECT_EQ(bench.guest.sends, 0u);
        EXPECT_EQ(bench.screenshots, 0);
        return answer.failure.value_or(Error{});
    };
    const auto message = [&](Action wrong) {
        const auto error = refused(std::move(wrong));
        EXPECT_EQ(error.code, Errc::InvalidArgument);
        return error.message;
    };
    EXPECT_EQ(message(ClickAction{Button::Left, 1, Point{1280, 10}}),
              "coordinate (1280, 10) is outside the screen: x 0..1279, y 0..799");
    EXPECT_THAT(message(MoveAction{{-1, 0}}), StartsWith("coordinate (-1, 0) is outside"));
    EXPECT_THAT(message(DragAction{Point{0, 0}, {{0, 800}}}), StartsWith("coordinate (0, 800) is outside"));
    EXPECT_THAT(message(DragAction{Point{5000, 0}, {{0, 0}}}), StartsWith("coordinate (5000, 0) is outside"));
    EXPECT_THAT(message(ScrollAction{ScrollDirection::Up, 1, Point{0, 900}}),
                StartsWith("coordinate (0, 900) is outside"));
    EXPECT_EQ(message(ScrollAction{ScrollDirection::Up, 101, {}}), "scroll_amount 101 is not 1..100");
    EXPECT_EQ(message(ScrollAction{ScrollDirection::Up, 0, {}}), "scroll_amount 0 is not 1..100");
    EXPECT_EQ(message(ClickAction{Button::Left, 4, {}}), "number of clicks 4 is not 1..3");
    EXPECT_EQ(message(KeyAction{"Retrun"}), "there is no key 'Retrun'");
    EXPECT_THAT(message(TypeAction{"a\x07"}), HasSubstr("U+0007"));
    EXPECT_EQ(message(WaitAction{301s}), "duration 301 is not 0..300 seconds");
    EXPECT_THAT(message(WaitAction{-1s}), HasSubstr("duration -1"));
    EXPECT_EQ(refused(TypeAction{std::string(100'001, 'x')}).code, Errc::TooLarge);
}

TEST(RunActions, TakesFromOneToAHundredActions) {
    Bench bench;
    EXPECT_EQ(bench.run({}).failure->code, Errc::InvalidArgument);
    EXPECT_EQ(bench.run(std::vector<Action>(101, WaitAction{})).failure->code, Errc::InvalidArgument);
    EXPECT_THAT(bench.run(std::vector<Action>(100, WaitAction{})).done, SizeIs(100));
}

TEST(RunActions, WithoutAScreenThereAreNoCoordinatesButKeysWork) {
    Bench bench;
    bench.screen = {};
    EXPECT_EQ(bench.run({MoveAction{{0, 0}}}).failure->code, Errc::Unavailable);
    EXPECT_FALSE(bench.run({KeyAction{"Escape"}}).failure);
}

TEST(RunActions, ChecksTheCoordinateAgainWhenTheScreenHasShrunkMeanwhile) {
    Bench bench;
    bench.guest.on_send = [&bench] { bench.screen = {640, 480}; };
    const auto answer = bench.run({KeyAction{"F11"}, ClickAction{Button::Left, 1, Point{1000, 700}}});
    ASSERT_TRUE(answer.failure);
    EXPECT_EQ(answer.failure->code, Errc::Conflict);
    EXPECT_EQ(answer.failed_at, 1u);
    EXPECT_THAT(answer.done, SizeIs(1));
}

TEST(RunActions, StopsAtTheFirstFailureAndKeepsWhatWasDone) {
    Bench bench;
    bench.screenshot_fails = Error{Errc::Unavailable, "no picture", "", 0};
    const auto answer = bench.run({KeyAction{"a"}, ScreenshotAction{}, KeyAction{"b"}});
    ASSERT_TRUE(answer.failure);
    EXPECT_EQ(answer.failure->message, "no picture");
    EXPECT_EQ(answer.failed_at, 1u);
    EXPECT_THAT(answer.done, SizeIs(1));
    EXPECT_EQ(bench.guest.words(), "a v, a ^");
}

TEST(RunActions, AWaitEndsAtOnceWhenCancelled) {
    Bench bench;
    const auto begun = bench.clock.now();
    bench.loop.after(40ms, [&bench] { bench.cancel.cancel(); });
    const auto answer = bench.run({WaitAction{300s}, KeyAction{"a"}});
    EXPECT_EQ(answer.failure->code, Errc::Interrupted);
    EXPECT_LE(bench.clock.now() - begun, 45ms);
    EXPECT_EQ(bench.guest.sends, 0u);
}

TEST(RunActions, WaitsForAnswersWhileCancelledInTheMiddleOfAPaste) {
    Bench bench;
    bench.clipboard.fetched = false;
    bench.loop.after(1s, [&bench] { bench.cancel.cancel(); });
    const auto begun = bench.clock.now();
    const auto answer = bench.run({TypeAction{"Ω"}});
    EXPECT_EQ(answer.failure->code, Errc::Interrupted);
    EXPECT_LE(bench.clock.now() - begun, 1100ms);
    EXPECT_EQ(bench.clipboard.restored, 1);
}

TEST(RunActions, FirstReleasesWhatAnEarlierFailureLeftDown) {
    Bench bench;
    bench.guest.die_at(1);  // QMP dies while ctrl is down
    EXPECT_TRUE(bench.run({KeyAction{"ctrl+a"}}).failure);
    EXPECT_THAT(bench.guest.down, ElementsAre("ctrl"));
    EXPECT_TRUE(bench.run({KeyAction{"b"}}).failure);  // still dead: b is not pressed on top of ctrl
    EXPECT_THAT(bench.guest.down, ElementsAre("ctrl"));
    bench.guest.recover();
    bench.guest.log.clear();
    EXPECT_FALSE(bench.run({KeyAction{"b"}}).failure);
    EXPECT_EQ(bench.guest.words(), "a ^, ctrl ^, b v, b ^");
}

// ---- more gestures

TEST(RunActions, HoldsKeysDuringAClickADragAScrollAndAMove) {
    Bench bench;
    EXPECT_FALSE(bench.run({ClickAction{Button::Left, 1, Point{5, 5}, "ctrl+shift"}}).failure);
    EXPECT_EQ(bench.guest.words(), at(5, 5) + ", ctrl v, shift v, left v, left ^, shift ^, ctrl ^");
    // The keyboard is another device than the mouse: its edges keep a distance.
    EXPECT_GE(bench.guest.times[3] - bench.guest.times[2], 40ms);
    EXPECT_GE(bench.guest.times[5] - bench.guest.times[4], 40ms);
    bench.guest.log.clear();
    EXPECT_FALSE(bench.run({ScrollAction{ScrollDirection::Down, 1, Point{6, 6}, "shift"}}).failure);
    EXPECT_EQ(bench.guest.words(), at(6, 6) + ", shift v, wheel-down v, wheel-down ^, shift ^");
    bench.guest.log.clear();
    EXPECT_FALSE(bench.run({DragAction{Point{7, 7}, {{8, 7}}, "alt"}}).failure);
    EXPECT_EQ(bench.guest.words(), "alt v, " + at(7, 7) + ", left v, " + at(8, 7) + ", left ^, alt ^");
    bench.guest.log.clear();
    EXPECT_FALSE(bench.run({MoveAction{{9, 9}, "ctrl"}}).failure);
    EXPECT_EQ(bench.guest.words(), "ctrl v, " + at(9, 9) + ", ctrl ^");
}

TEST(RunActions, RefusesTwoCombinationsToHold) {
    Bench bench;
    const auto answer = bench.run({ClickAction{Button::Left, 1, {}, "ctrl shift"}});
    ASSERT_TRUE(answer.failure);
    EXPECT_THAT(answer.failure->message, HasSubstr("only one can be held"));
    EXPECT_THAT(answer.failure->hint, HasSubstr("ctrl+shift"));
}

TEST(RunActions, HasAllFiveButtonsAndThreeClicks) {
    Bench bench;
    EXPECT_FALSE(bench
                     .run({ClickAction{Button::Middle}, ClickAction{Button::Back},
                           ClickAction{Button::Forward}, ClickAction{Button::Left, 3}})
                     .failure);
    EXPECT_EQ(bench.guest.words(),
              "middle v, middle ^, side v, side ^, extra v, extra ^, left v, left ^, left v, left ^, left v, "
              "left ^");
}

TEST(RunActions, RepeatedClicksAreNoDoubleClicks) {
    Bench bench;
    EXPECT_FALSE(bench.run({ClickAction{Button::Left, 1, {}, "", 3}}).failure);
    EXPECT_EQ(bench.guest.words(), "left v, left ^, left v, left ^, left v, left ^");
    EXPECT_GE(bench.guest.times[2] - bench.guest.times[1], 500ms);
    EXPECT_EQ(bench.run({ClickAction{Button::Left, 2, {}, "", 2}}).failure->message, "repeat 2 is not 1..1");
}

TEST(RunActions, RepeatsKeysAndHoldsThem) {
    Bench bench;
    EXPECT_FALSE(bench.run({KeyAction{"Down a", 2}}).failure);
    EXPECT_EQ(bench.guest.words(), "down v, down ^, a v, a ^, down v, down ^, a v, a ^");
    bench.guest.log.clear();
    bench.guest.times.clear();
    EXPECT_FALSE(bench.run({HoldKeyAction{"ctrl+b", 3s}}).failure);
    EXPECT_EQ(bench.guest.words(), "ctrl v, b v, b ^, ctrl ^");
    EXPECT_GE(bench.guest.times[2] - bench.guest.times[1], 3s);
    EXPECT_EQ(bench.run({KeyAction{"a", 101}}).failure->message, "repeat 101 is not 1..100");
    EXPECT_THAT(bench.run({HoldKeyAction{"a b", 1s}}).failure->message, HasSubstr("only one can be held"));
}

TEST(RunActions, DragsAlongAPathAndFromWhereThePointerIs) {
    Bench bench;
    bench.pointer = Point{30, 40};
    EXPECT_FALSE(bench.run({DragAction{{}, {{50, 40}, {50, 60}, {70, 60}, {70, 80}, {90, 80}}}}).failure);
    const auto words = bench.guest.words();
    EXPECT_THAT(words, StartsWith(at(30, 40) + ", left v, "));
    for (const auto& corner : {at(50, 40), at(50, 60), at(70, 60), at(70, 80)})
        EXPECT_THAT(words, HasSubstr(corner + ", "));
    EXPECT_THAT(words, testing::EndsWith(at(90, 80) + ", left ^"));
}

TEST(RunActions, TellsWhereThePointerIs) {
    Bench bench;
    const auto nobody = bench.run({CursorAction{}});
    ASSERT_TRUE(nobody.failure);
    EXPECT_EQ(nobody.failure->code, Errc::Unavailable);
    // Without an agent it is where it was sent.
    EXPECT_EQ(bench.run({MoveAction{{11, 12}}, CursorAction{}}).done[1].pointer, (Point{11, 12}));
    bench.pointer = Point{600, 400};  // somebody has moved it since
    EXPECT_EQ(bench.run({CursorAction{}}).done[0].pointer, (Point{600, 400}));
    bench.options.coordinates = Coordinates{0.5};
    EXPECT_EQ(bench.run({CursorAction{}}).done[0].pointer, (Point{300, 200}));
}

TEST(RunActions, TurnsTheWheelThroughTheAgentWhereItCan) {
    Bench bench;
    const auto sideways = bench.run({ScrollAction{ScrollDirection::Right, 2, {}}});
    ASSERT_TRUE(sideways.failure);
    EXPECT_EQ(sideways.failure->code, Errc::Unavailable);
    bench.has_agent = true;
    EXPECT_FALSE(bench
                     .run({ScrollAction{ScrollDirection::Right, 2, Point{3, 4}, "shift"},
                           ScrollAction{ScrollDirection::Up, 5, {}}})
                     .failure);
    EXPECT_THAT(bench.turned, ElementsAre("3 x2 shift at 3,4", "0 x5"));
    EXPECT_EQ(bench.guest.words(), at(3, 4) + ", shift v, shift ^");
}

// ---- pictures and coordinates of a call

TEST(RunActions, UndoesTheScaleOfThePictureThatTheCallerSaw) {
    Bench bench;
    bench.options.coordinates = Coordinates{1, 640, 400};
    EXPECT_FALSE(
        bench.run({MoveAction{{0, 0}}, MoveAction{{639, 399}}, ClickAction{Button::Left, 1, Point{320, 200}}})
            .failure);
    EXPECT_EQ(bench.guest.words(),
              at(1, 1) + ", " + at(1279, 799) + ", " + at(641, 401) + ", left v, left ^");
    EXPECT_EQ(bench.run({MoveAction{{640, 0}}}).failure->message,
              "coordinate (640, 0) is outside the picture: x 0..639, y 0..399");
}

TEST(RunActions, TakesAllPicturesOfACallAsTheCallWantsThem) {
    Bench bench;
    bench.options.coordinates = Coordinates{0.5};
    bench.options.picture.format = PictureFormat::Jpeg;
    bench.options.picture.scale = 0.5;
    bench.options.picture.region = Region{10, 20, 30, 40};
    EXPECT_FALSE(bench
                     .run({ScreenshotAction{}, ZoomAction{{100, 100, 420, 300}},
                           ZoomAction{{0, 0, 640, 400}, 300, 300}})
                     .failure);
    ASSERT_THAT(bench.pictures, SizeIs(3));
    EXPECT_EQ(bench.pictures[0].scale, 0.5);
    EXPECT_EQ(bench.pictures[0].region, (Region{20, 40, 60, 80}));
    EXPECT_EQ(bench.pictures[1].format, PictureFormat::Jpeg);
    EXPECT_EQ(bench.pictures[1].region, (Region{200, 200, 640, 400}));
    EXPECT_EQ(bench.pictures[1].scale, 1);
    EXPECT_EQ(bench.pictures[1].width, 640);
    EXPECT_EQ(bench.pictures[1].height, 400);
    EXPECT_EQ(bench.pictures[2].region, (Region{0, 0, 1280, 800}));
    EXPECT_EQ(bench.pictures[2].width, 300);
    EXPECT_EQ(bench.pictures[2].height, 300);
    EXPECT_THAT(bench.run({ZoomAction{{0, 0, 641, 10}}}).failure->message,
                StartsWith("region [0, 0, 641, 10] is not in the picture: x 0..640"));
}

// ---- the button that stays down

TEST(TheLeftButton, StaysDownFromOneCallToTheNextUntilItIsReleased) {
    Bench bench;
    EXPECT_FALSE(bench.run({LeftButtonAction{true, Point{10, 10}}}).failure);
    EXPECT_THAT(bench.guest.down, ElementsAre("left"));
    EXPECT_FALSE(bench.run({KeyAction{"Escape"}}).failure);
    EXPECT_THAT(bench.guest.down, ElementsAre("left"));
    bench.guest.log.clear();
    // A move with the button down is drawn, or what is dragged would not notice.
    EXPECT_FALSE(bench.run({MoveAction{{210, 10}}}).failure);
    EXPECT_THAT(bench.guest.log, SizeIs(static_cast<std::size_t>(pacing::kDragSteps)));
    EXPECT_FALSE(bench.run({LeftButtonAction{false, {}}}).failure);
    EXPECT_THAT(bench.guest.down, IsEmpty());
    bench.guest.log.clear();
    EXPECT_FALSE(bench.run({MoveAction{{10, 10}}}).failure);
    EXPECT_THAT(bench.guest.log, SizeIs(1));
}

TEST(TheLeftButton, IsReleasedByACallThatFails) {
    for (const Action& wrong : {Action{MoveAction{{5000, 0}}}, Action{TypeAction{"Ω"}}}) {
        Bench bench;
        bench.clipboard.begin_fails = Error{Errc::Unavailable, "no agent", "", 0};
        EXPECT_FALSE(bench.run({LeftButtonAction{true, {}}}).failure);
        EXPECT_TRUE(bench.run({wrong}).failure);
        EXPECT_THAT(bench.guest.down, IsEmpty());
        EXPECT_FALSE(bench.input->keeps_left());
    }
}

TEST(TheLeftButton, CannotClickOrDragWhileItIsDown) {
    Bench bench;
    const auto refused = bench.run({LeftButtonAction{true, {}}, ClickAction{}});
    ASSERT_TRUE(refused.failure);
    EXPECT_EQ(refused.failed_at, 1u);
    EXPECT_EQ(refused.failure->message, "the left button is down since left_mouse_down and cannot click");
    EXPECT_EQ(bench.guest.sends, 0u);
    EXPECT_TRUE(bench.run({LeftButtonAction{true, {}}, DragAction{{}, {{1, 1}}}}).failure);
    EXPECT_TRUE(bench.run({LeftButtonAction{true, {}}, LeftButtonAction{true, {}}}).failure);
    EXPECT_FALSE(
        bench.run({LeftButtonAction{true, {}}, ClickAction{Button::Right}, LeftButtonAction{false, {}}})
            .failure);
    EXPECT_FALSE(bench.run({LeftButtonAction{false, {}}}).failure);  // once too often does no harm
}

// ---- what a call may cost

TEST(RunActions, RefusesACallThatWouldTakeMoreThanTenMinutes) {
    Bench bench;
    EXPECT_THAT(bench.run({WaitAction{300s}, WaitAction{300s}, WaitAction{1s}}).failure->message,
                HasSubstr("more than 10 minutes"));
    EXPECT_EQ(bench.run({WaitAction{300s}, HoldKeyAction{"a", 300s}}).failed_at, 1u);
    std::string many;
    for (int i = 0; i < 60; ++i) many += "a ";
    EXPECT_TRUE(bench.run(std::vector<Action>(100, KeyAction{many, 100})).failure);
    EXPECT_TRUE(bench.run({TypeAction{std::string(90'000, 'x'), TypeMethod::Keys}}).failure);
    EXPECT_EQ(bench.guest.sends, 0u);
    EXPECT_FALSE(bench.run({WaitAction{300s}, WaitAction{299s}}).failure);
}

// ---- typing by more than one way

TEST(RunActions, PastesLongLinesAndFallsBackToKeysWherePasteDoesNothing) {
    const std::string line(31, 'x');
    Bench pasted;
    EXPECT_FALSE(pasted.run({TypeAction{line}}).failure);
    EXPECT_THAT(pasted.clipboard.calls, ElementsAre("begin " + line, "wait", "shown", "restore"));
    Bench ignored;
    ignored.clipboard.fetched = false;
    EXPECT_FALSE(ignored.run({TypeAction{line + "\n" + line}}).failure);
    // Tried once, not for every line.
    EXPECT_EQ(ignored.clipboard.begun, 1);
    EXPECT_EQ(ignored.clipboard.restored, 1);
    EXPECT_EQ(ignored.guest.log.size(), 4 + 62 * 2 + 2u);
    Bench without_agent;
    without_agent.clipboard.begin_fails = Error{Errc::Unavailable, "no agent", "", 0};
    EXPECT_FALSE(without_agent.run({TypeAction{line}}).failure);
    EXPECT_EQ(without_agent.guest.log.size(), 62u);
}

TEST(RunActions, PutsTheClipboardBackOnceAfterAllPastesOfAText) {
    Bench bench;
    EXPECT_FALSE(bench.run({TypeAction{"é\nü"}, TypeAction{"plain"}}).failure);
    EXPECT_THAT(bench.clipboard.calls,
                ElementsAre("begin é", "wait", "shown", "shown", "begin ü", "wait", "shown", "restore"));
}

TEST(RunActions, TypesByTheMethodThatWasAskedFor) {
    const std::string line(31, 'x');
    Bench keys;
    EXPECT_FALSE(keys.run({TypeAction{line, TypeMethod::Keys}}).failure);
    EXPECT_THAT(keys.clipboard.calls, IsEmpty());
    EXPECT_EQ(keys.run({TypeAction{"Ω", TypeMethod::Keys}}).failure->code, Errc::InvalidArgument);
    Bench paste;
    EXPECT_FALSE(paste.run({TypeAction{"a\nb", TypeMethod::Paste}}).failure);
    EXPECT_THAT(paste.clipboard.calls, ElementsAre("begin a\nb", "wait", "shown", "restore"));
    paste.clipboard.fetched = false;
    EXPECT_EQ(paste.run({TypeAction{"a", TypeMethod::Paste}}).failure->code, Errc::Timeout);
}

// ---- whatever happens, nothing stays down

std::vector<Action> random_actions(std::mt19937& random) {
    const auto point = [&random] {
        return Point{static_cast<int>(random() % 1280), static_cast<int>(random() % 800)};
    };
    const std::vector<std::string> chords{"ctrl+shift+t", "A", "alt+F4 Return", "super", "ctrl+alt+Delete"};
    const std::vector<std::string> texts{"Ab!", "x\nY", "naïve", "A\tΩ", "~~"};
    std::vector<Action> actions;
    for (auto count = 1 + random() % 3; count > 0; --count) {
        switch (random() % 11) {
            case 0:
                actions.emplace_back(ClickAction{Button::Left, 1 + static_cast<int>(random() % 3), point()});
                break;
            case 1:
                actions.emplace_back(ClickAction{Button::Right, 1, std::nullopt});
                break;
            case 2:
                actions.emplace_back(DragAction{point(), {point()}});
                break;
            case 3:
                actions.emplace_back(
                    ScrollAction{ScrollDirection::Down, 1 + static_cast<int>(random() % 3), point()});
                break;
            case 4:
                actions.emplace_back(KeyAction{chords[random() % chords.size()]});
                break;
            case 5:
                actions.emplace_back(TypeAction{texts[random() % texts.size()]});
                break;
            case 6:
                actions.emplace_back(WaitAction{20ms});
                break;
            case 7:
                actions.emplace_back(HoldKeyAction{"shift+a", 30ms});
                break;
            case 8:
                actions.emplace_back(ClickAction{Button::Back, 1, point(), "ctrl+shift"});
                break;
            case 9:
                actions.emplace_back(LeftButtonAction{true, point()});
                actions.emplace_back(MoveAction{point()});
                actions.emplace_back(LeftButtonAction{false, {}});
                break;
            case 10:
                actions.emplace_back(DragAction{point(), {point(), point()}, "alt"});
                break;
        }
    }
    return actions;
}

constexpr auto kCoarse = 10ms;  // the pauses are tested elsewhere

// Calls check(actions, n) for every send n of some random sequences.
template <class Check>
void at_every_send(unsigned seed, Check check) {
    std::mt19937 random{seed};
    for (int round = 0; round < 8; ++round) {
        const auto actions = random_actions(random);
        Bench undisturbed;
        ASSERT_FALSE(undisturbed.run(actions, kCoarse).failure);
        ASSERT_THAT(undisturbed.guest.down, IsEmpty());
        for (std::size_t send = 0; send < undisturbed.guest.sends; ++send) {
            check(actions, send);
            if (testing::Test::HasFailure()) return;
        }
    }
}

void expect_all_up(const Bench& bench, std::size_t send) {
    EXPECT_THAT(bench.guest.down, IsEmpty()) << "send " << send << ": " << bench.guest.words();
    EXPECT_THAT(bench.input->down(), IsEmpty()) << "send " << send << ": " << bench.guest.words();
    EXPECT_EQ(bench.clipboard.begun, bench.clipboard.restored) << "send " << send;
}

TEST(NothingStaysDown, WhenAnySendIsLostOnTheWayThereOrBack) {
    for (const auto loss : {RecordingGuest::Loss::OnTheWayThere, RecordingGuest::Loss::OnTheWayBack}) {
        at_every_send(1, [loss](const std::vector<Action>& actions, std::size_t send) {
            Bench bench;
            bench.guest.loss = loss;
            bench.guest.failing = {send};
            EXPECT_TRUE(bench.run(actions, kCoarse).failure);
            expect_all_up(bench, send);
        });
    }
}

TEST(NothingStaysDown, WhenTwoSendsInARowFail) {
    at_every_send(2, [](const std::vector<Action>& actions, std::size_t send) {
        Bench bench;
        bench.guest.failing = {send, send + 1};
        EXPECT_TRUE(bench.run(actions, kCoarse).failure);
        expect_all_up(bench, send);
    });
}

TEST(NothingStaysDown, WhenTheCallerGoesAwayAtAnySend) {
    at_every_send(3, [](const std::vector<Action>& actions, std::size_t send) {
        Bench bench;
        bench.guest.on_send = [&bench, send] {
            if (bench.guest.sends == send + 1) bench.cancel.cancel();
        };
        bench.run(actions, kCoarse);
        expect_all_up(bench, send);
    });
}

TEST(NothingStaysDown, AfterTheNextCallWhenTheConnectionDiedAtAnySend) {
    at_every_send(4, [](const std::vector<Action>& actions, std::size_t send) {
        Bench bench;
        bench.guest.die_at(send);
        EXPECT_TRUE(bench.run(actions, kCoarse).failure);
        EXPECT_EQ(bench.clipboard.begun, bench.clipboard.restored);
        bench.guest.recover();
        EXPECT_FALSE(bench.run({WaitAction{}}, kCoarse).failure);
        expect_all_up(bench, send);
    });
}

}  // namespace
}  // namespace dormouse::desktop

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
    static Task<Result<>> restore(FakeClipboard* self) {
        self->calls.emplace_back("restore");
        ++self->restored;
        co_await self->loop.sleep(1ms);
        co_return Result<>{};
    }
    PastePort port() {
        return {[this](std::string text) { return begin(this, std::move(text)); },
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
    std::optional<Error> screenshot_fails;
    std::shared_ptr<InputDevice> input = std::make_shared<InputDevice>(loop, guest.send());
    Cancel cancel;

    static Task<Result<Picture>> take(Bench* self) {
        co_await self->loop.sleep(3ms);
        if (self->screenshot_fails) co_return fail(*self->screenshot_fails);
        ++self->screenshots;
        co_return Picture{std::make_shared<const std::string>("png"), 1280, 800, 7};
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
                [this] { return take(this); },
                clipboard.port(),
                [this] { return ++generation; },
                [this](std::uint64_t before) { awaited = before; },
                [this](Cancel) { return react(this); }};
    }
    std::uint64_t generation = 0;
    std::optional<std::uint64_t> awaited;
    std::vector<std::uint64_t> reactions;  // the generations that were given
    ActAnswer run(std::vector<Action> actions, Duration step = 1ms) {
        return drive(clock, loop, run_actions(ports(), std::move(actions), cancel), step);
    }
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
    EXPECT_THAT(bench.reactions, testing::ElementsAre(1u, 5u));
    // What came last is waited for by the next call.
    EXPECT_FALSE(bench.run({MoveAction{{2, 2}}}).failure);
    EXPECT_THAT(bench.reactions, testing::SizeIs(2));
    EXPECT_FALSE(bench.run({TypeAction{"c"}}).failure);
    EXPECT_THAT(bench.reactions, testing::ElementsAre(1u, 5u, 7u));
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
    EXPECT_FALSE(bench.run({DragAction{{100, 100}, {300, 100}}}).failure);
    EXPECT_THAT(bench.guest.words(), StartsWith(at(100, 100) + ", left v, " + at(110, 100)));
    EXPECT_THAT(bench.guest.words(), testing::EndsWith(at(300, 100) + ", left ^"));
}

TEST(RunActions, TypesByKeysAndPastesWhatKeysCannotWrite) {
    Bench bench;
    EXPECT_FALSE(bench.run({TypeAction{"a\nnaïve\tb"}}).failure);
    EXPECT_EQ(bench.guest.words(),
              "a v, a ^, ret v, ret ^, ctrl v, v v, v ^, ctrl ^, tab v, tab ^, b v, b ^");
    EXPECT_THAT(bench.clipboard.calls, ElementsAre("begin naïve", "wait", "restore"));
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
    EXPECT_EQ(bench.clipboard.restored, 0);
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
    EXPECT_THAT(message(DragAction{{0, 0}, {0, 800}}), StartsWith("coordinate (0, 800) is outside"));
    EXPECT_THAT(message(DragAction{{5000, 0}, {0, 0}}), StartsWith("coordinate (5000, 0) is outside"));
    EXPECT_THAT(message(ScrollAction{ScrollDirection::Up, 1, Point{0, 900}}),
                StartsWith("coordinate (0, 900) is outside"));
    EXPECT_EQ(message(ScrollAction{ScrollDirection::Up, 101, {}}), "scroll_amount 101 is not 1..100");
    EXPECT_EQ(message(ScrollAction{ScrollDirection::Up, 0, {}}), "scroll_amount 0 is not 1..100");
    EXPECT_EQ(message(ClickAction{Button::Left, 4, {}}), "4 clicks in one action are not 1..3");
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
    EXPECT_EQ(answer.failure->code, Errc::InvalidArgument);
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

// ---- whatever happens, nothing stays down

std::vector<Action> random_actions(std::mt19937& random) {
    const auto point = [&random] {
        return Point{static_cast<int>(random() % 1280), static_cast<int>(random() % 800)};
    };
    const std::vector<std::string> chords{"ctrl+shift+t", "A", "alt+F4 Return", "super", "ctrl+alt+Delete"};
    const std::vector<std::string> texts{"Ab!", "x\nY", "naïve", "A\tΩ", "~~"};
    std::vector<Action> actions;
    for (auto count = 1 + random() % 3; count > 0; --count) {
        switch (random() % 7) {
            case 0:
                actions.emplace_back(ClickAction{Button::Left, 1 + static_cast<int>(random() % 3), point()});
                break;
            case 1:
                actions.emplace_back(ClickAction{Button::Right, 1, std::nullopt});
                break;
            case 2:
                actions.emplace_back(DragAction{point(), point()});
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

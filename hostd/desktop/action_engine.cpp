// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/action_engine.h"

#include <optional>
#include <utility>

#include "hostd/base/log.h"
#include "hostd/desktop/key_names.h"
#include "hostd/desktop/text_plan.h"

namespace dormouse::desktop {

namespace {

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

// An action that was found right, with what reading it gave.
struct Prepared {
    Action action;
    std::vector<Chord> chords;  // of a KeyAction
    std::vector<TextRun> runs;  // of a TypeAction
};

// ---- checking

Result<> check_point(const Point& point, const ScreenSize& screen) {
    if (screen.width <= 0 || screen.height <= 0)
        return fail(Errc::Unavailable, "the desktop has no screen yet", "try again when it has started");
    if (point.x >= 0 && point.y >= 0 && point.x < screen.width && point.y < screen.height) return {};
    return fail(Errc::InvalidArgument,
                fmt::format("coordinate ({}, {}) is outside the screen: x 0..{}, y 0..{}", point.x, point.y,
                            screen.width - 1, screen.height - 1));
}

Result<> check_point(const std::optional<Point>& point, const ScreenSize& screen) {
    if (!point) return {};
    return check_point(*point, screen);
}

Result<> check_click(const ClickAction& click, const ScreenSize& screen) {
    if (click.count < 1 || click.count > kMostClicks)
        return fail(Errc::InvalidArgument,
                    fmt::format("{} clicks in one action are not 1..{}", click.count, kMostClicks));
    return check_point(click.at, screen);
}

Result<> check_scroll(const ScrollAction& scroll, const ScreenSize& screen) {
    if (scroll.amount < 1 || scroll.amount > kMostScroll)
        return fail(Errc::InvalidArgument,
                    fmt::format("scroll_amount {} is not 1..{}", scroll.amount, kMostScroll));
    return check_point(scroll.at, screen);
}

Result<> check_drag(const DragAction& drag, const ScreenSize& screen) {
    DORMOUSE_TRY(check_point(drag.from, screen));
    return check_point(drag.to, screen);
}

Result<> check_wait(const WaitAction& wait) {
    if (wait.time >= Duration::zero() && wait.time <= kLongestWait) return {};
    return fail(
        Errc::InvalidArgument,
        fmt::format("duration {} is not 0..{} seconds", std::chrono::duration<double>{wait.time}.count(),
                    std::chrono::floor<std::chrono::seconds>(kLongestWait).count()));
}

Result<Prepared> prepare(Action action, const ScreenSize& screen) {
    Prepared prepared;
    const auto verdict =
        std::visit(Overloaded{
                       [](const ScreenshotAction&) -> Result<> { return {}; },
                       [&](const ClickAction& click) { return check_click(click, screen); },
                       [&](const MoveAction& move) { return check_point(move.to, screen); },
                       [&](const DragAction& drag) { return check_drag(drag, screen); },
                       [&](const ScrollAction& scroll) { return check_scroll(scroll, screen); },
                       [&](const KeyAction& key) -> Result<> {
                           DORMOUSE_TRY_ASSIGN(prepared.chords, parse_keys(key.keys));
                           return {};
                       },
                       [&](const TypeAction& type) -> Result<> {
                           DORMOUSE_TRY_ASSIGN(prepared.runs, plan_text(type.text));
                           return {};
                       },
                       [](const WaitAction& wait) { return check_wait(wait); },
                   },
                   action);
    if (!verdict) return fail(verdict.error());
    prepared.action = std::move(action);
    return prepared;
}

// The number of the action that is wrong and why, or all of them.
struct Preparation {
    std::vector<Prepared> actions;
    std::size_t failed_at = 0;
    std::optional<Error> error;
};

Preparation prepare_all(std::vector<Action> actions, const ScreenSize& screen) {
    Preparation result;
    if (actions.empty() || actions.size() > kMostActions) {
        result.error = Error{Errc::InvalidArgument,
                             fmt::format("{} actions are not 1..{}", actions.size(), kMostActions),
                             {},
                             0};
        return result;
    }
    for (std::size_t i = 0; i < actions.size(); ++i) {
        auto prepared = prepare(std::move(actions[i]), screen);
        if (!prepared) {
            result.failed_at = i;
            result.error = std::move(prepared.error());
            return result;
        }
        result.actions.push_back(std::move(*prepared));
    }
    return result;
}

// ---- carrying out; coroutines get all they use by value

tl::unexpected<Error> cancelled() {
    return fail(Errc::Interrupted, "the action was cancelled");
}

Task<Result<>> pause(ActionPorts ports, Duration time, Cancel cancel) {
    const bool whole = co_await sleep_unless_cancelled(*ports.loop, time, cancel);
    if (!whole) co_return cancelled();
    co_return Result<>{};
}

// Puts the pointer where the action wants it, if it wants it anywhere. The screen
// may have changed its size since the check.
Task<Result<>> point_at(ActionPorts ports, std::optional<Point> at, Cancel cancel) {
    if (!at) co_return Result<>{};
    const auto screen = ports.screen();
    DORMOUSE_CO_TRY(check_point(*at, screen));
    DORMOUSE_CO_TRY(co_await ports.input->move(*at, screen));
    co_return co_await pause(ports, pacing::kMoveToPress, cancel);
}

Task<Result<>> click(ActionPorts ports, ClickAction action, Cancel cancel) {
    DORMOUSE_CO_TRY(co_await point_at(ports, action.at, cancel));
    co_return co_await ports.input->click(action.button, action.count, cancel);
}

Task<Result<>> drag(ActionPorts ports, DragAction action, Cancel cancel) {
    const auto screen = ports.screen();
    DORMOUSE_CO_TRY(check_drag(action, screen));
    co_return co_await ports.input->drag(action.from, action.to, screen, cancel);
}

Task<Result<>> scroll(ActionPorts ports, ScrollAction action, Cancel cancel) {
    DORMOUSE_CO_TRY(co_await point_at(ports, action.at, cancel));
    co_return co_await ports.input->scroll(action.direction, action.amount, cancel);
}

Task<Result<>> press_keys(ActionPorts ports, std::vector<Chord> chords, Cancel cancel) {
    for (const auto& chord : chords) DORMOUSE_CO_TRY(co_await ports.input->press_chord(chord, cancel));
    co_return Result<>{};
}

// Between begin() and restore(): presses the shortcut, waits for the effect.
Task<Result<>> paste_from_clipboard(ActionPorts ports, std::string shortcut, Cancel cancel) {
    DORMOUSE_CO_TRY(co_await pause(ports, kClipboardNews, cancel));
    DORMOUSE_CO_TRY_ASSIGN(auto chords, parse_keys(shortcut));
    DORMOUSE_CO_TRY(co_await press_keys(ports, std::move(chords), cancel));
    DORMOUSE_CO_TRY_ASSIGN(const bool fetched, co_await ports.paste.wait_fetched(kPasteTimeout, cancel));
    if (cancel.cancelled()) co_return cancelled();
    if (!fetched)
        co_return fail(Errc::Timeout,
                       fmt::format("nothing took the pasted text within {} s after {}",
                                   std::chrono::floor<std::chrono::seconds>(kPasteTimeout).count(), shortcut),
                       "click into the field first, so that it has the focus; take a screenshot to see");
    co_return co_await pause(ports, kPasteSettle, cancel);
}

Task<Result<>> paste(ActionPorts ports, std::string text, Cancel cancel) {
    auto shortcut = co_await ports.paste.begin(std::move(text));
    if (!shortcut) co_return fail_in("cannot put the text on the clipboard", shortcut.error());
    auto pasted = co_await paste_from_clipboard(ports, *shortcut, cancel);
    // The shortcut goes up first: a key that is down must not wait for the agent.
    if (!pasted)
        if (auto released = co_await ports.input->release_all(); !released)
            log::warn("input.stuck", {{"why", released.error().message}});
    // The text is in, or will not get in; what the clipboard held is worth a try.
    if (auto restored = co_await ports.paste.restore(); !restored)
        log::warn("clipboard.not_restored", {{"why", restored.error().message}});
    co_return pasted;
}

Task<Result<>> type(ActionPorts ports, std::vector<TextRun> runs, Cancel cancel) {
    for (const auto& run : runs) {
        if (cancel.cancelled()) co_return cancelled();
        switch (run.how) {
            case TextRun::How::Keys:
                DORMOUSE_CO_TRY(co_await ports.input->type(run.text, cancel));
                break;
            case TextRun::How::Paste:
                DORMOUSE_CO_TRY(co_await paste(ports, run.text, cancel));
                break;
        }
    }
    co_return Result<>{};
}

// What an action gave: a picture or nothing.
using Given = std::optional<Picture>;

Task<Result<Given>> without_picture(Task<Result<>> task) {
    DORMOUSE_CO_TRY(co_await std::move(task));
    co_return Given{};
}

Task<Result<Given>> screenshot(ActionPorts ports) {
    DORMOUSE_CO_TRY_ASSIGN(auto picture, co_await ports.take_screenshot());
    co_return Given{std::move(picture)};
}

Task<Result<Given>> perform(const ActionPorts& ports, Prepared prepared, Cancel cancel) {
    // Not a coroutine: picks the one that does it.
    return std::visit(
        Overloaded{
            [&](const ScreenshotAction&) { return screenshot(ports); },
            [&](const ClickAction& action) { return without_picture(click(ports, action, cancel)); },
            [&](const MoveAction& action) { return without_picture(point_at(ports, action.to, cancel)); },
            [&](const DragAction& action) { return without_picture(drag(ports, action, cancel)); },
            [&](const ScrollAction& action) { return without_picture(scroll(ports, action, cancel)); },
            [&](const KeyAction&) {
                return without_picture(press_keys(ports, std::move(prepared.chords), cancel));
            },
            [&](const TypeAction&) { return without_picture(type(ports, std::move(prepared.runs), cancel)); },
            [&](const WaitAction& action) { return without_picture(pause(ports, action.time, cancel)); },
        },
        prepared.action);
}

bool sends_keys(const Action& action) {
    return std::holds_alternative<KeyAction>(action) || std::holds_alternative<TypeAction>(action);
}

bool may_move_focus(const Action& action) {
    return std::holds_alternative<ClickAction>(action) || std::holds_alternative<DragAction>(action) ||
           std::holds_alternative<KeyAction>(action);
}

}  // namespace

Task<ActAnswer> run_actions(ActionPorts ports, std::vector<Action> actions, Cancel cancel) {
    ActAnswer answer;
    auto preparation = prepare_all(std::move(actions), ports.screen());
    if (preparation.error) {
        answer.failure = std::move(preparation.error);
        answer.failed_at = preparation.failed_at;
        co_return answer;
    }
    // Left over from a call whose releases failed too.
    if (auto released = co_await ports.input->release_all(); !released) {
        answer.failure = std::move(released.error());
        co_return answer;
    }
    for (auto& prepared : preparation.actions) {
        if (sends_keys(prepared.action)) (void)co_await ports.reaction(cancel);
        const bool moves_focus = may_move_focus(prepared.action);
        const auto before = ports.generation();
        if (cancel.cancelled()) {
            answer.failure = cancelled().value();
            break;
        }
        ActionOutcome outcome;
        outcome.action = action_name(prepared.action);
        const auto start = ports.loop->clock().now();
        auto given = co_await perform(ports, std::move(prepared), cancel);
        if (!given) {
            answer.failure = std::move(given.error());
            break;
        }
        outcome.took = std::chrono::floor<std::chrono::milliseconds>(ports.loop->clock().now() - start);
        outcome.picture = std::move(*given);
        answer.done.push_back(std::move(outcome));
        if (moves_focus) ports.focus_may_move(before);
    }
    if (answer.failure) answer.failed_at = answer.done.size();
    // After success nothing is down; after anything else something may be.
    if (auto released = co_await ports.input->release_all(); !released)
        log::warn("input.stuck", {{"why", released.error().message}});
    co_return answer;
}

}  // namespace dormouse::desktop

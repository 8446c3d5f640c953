// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/action_engine.h"

#include <utility>

#include "hostd/base/log.h"

namespace dormouse::desktop {

namespace {

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

// Coroutines get all they use by value.

tl::unexpected<Error> cancelled() {
    return fail(Errc::Interrupted, "the action was cancelled");
}

Task<Result<>> pause(ActionPorts ports, Duration time, Cancel cancel) {
    const bool whole = co_await sleep_unless_cancelled(*ports.loop, time, cancel);
    if (!whole) co_return cancelled();
    co_return Result<>{};
}

// The screen may have changed its size since the plan was made.
Result<> still_on_screen(const std::vector<Point>& points, const ScreenSize& screen) {
    for (const auto& point : points)
        if (point.x >= screen.width || point.y >= screen.height)
            return fail(Errc::Conflict,
                        fmt::format("the screen has become {}×{} meanwhile, and ({}, {}) is not on it",
                                    screen.width, screen.height, point.x, point.y),
                        "take a screenshot and go on from there");
    return {};
}

Result<> still_on_screen(const std::optional<Point>& point, const ScreenSize& screen) {
    return still_on_screen(point ? std::vector{*point} : std::vector<Point>{}, screen);
}

// Puts the pointer where the action wants it, if it wants it anywhere.
Task<Result<>> point_at(ActionPorts ports, std::optional<Point> at, Cancel cancel) {
    if (!at) co_return Result<>{};
    const auto screen = ports.screen();
    DORMOUSE_CO_TRY(still_on_screen(at, screen));
    DORMOUSE_CO_TRY(co_await ports.input->move(*at, screen, cancel));
    co_return co_await pause(ports, pacing::kMoveToPress, cancel);
}

// The guest knows best; without its agent, where the pointer was sent last.
Task<Result<Point>> find_pointer(ActionPorts ports) {
    auto told = co_await ports.mouse.position();
    if (told) co_return told;
    if (const auto sent = ports.input->position()) co_return *sent;
    co_return fail(Errc::Unavailable, "nobody knows where the pointer is: " + told.error().message,
                   "give a coordinate, or move the pointer first");
}

Task<Result<>> with_held(ActionPorts ports, Chord held, Task<Result<>> gesture, Cancel cancel) {
    if (held.keys.empty()) co_return co_await std::move(gesture);
    DORMOUSE_CO_TRY(co_await ports.input->hold(held, cancel));
    DORMOUSE_CO_TRY(co_await pause(ports, pacing::kHeldToGesture, cancel));
    DORMOUSE_CO_TRY(co_await std::move(gesture));
    DORMOUSE_CO_TRY(co_await pause(ports, pacing::kHeldToGesture, cancel));
    co_return co_await ports.input->let_go(held, cancel);
}

Task<Result<>> click(ActionPorts ports, ClickAction action, Cancel cancel) {
    for (int i = 0; i < action.repeat; ++i) {
        if (i > 0) DORMOUSE_CO_TRY(co_await pause(ports, pacing::kBetweenRepeats, cancel));
        DORMOUSE_CO_TRY(co_await ports.input->click(action.button, action.count, cancel));
    }
    co_return Result<>{};
}

Task<Result<>> point_and_click(ActionPorts ports, ClickAction action, Chord held, Cancel cancel) {
    DORMOUSE_CO_TRY(co_await point_at(ports, action.at, cancel));
    auto clicks = click(ports, action, cancel);
    co_return co_await with_held(ports, held, std::move(clicks), cancel);
}

Task<Result<>> move(ActionPorts ports, MoveAction action, Chord held, Cancel cancel) {
    auto moves = point_at(ports, action.to, cancel);
    co_return co_await with_held(ports, held, std::move(moves), cancel);
}

Task<Result<>> left_button(ActionPorts ports, LeftButtonAction action, Cancel cancel) {
    DORMOUSE_CO_TRY(co_await point_at(ports, action.at, cancel));
    if (action.down) co_return co_await ports.input->press_left(cancel);
    co_return co_await ports.input->release_left(cancel);
}

Task<Result<>> drag(ActionPorts ports, DragAction action, Chord held, Cancel cancel) {
    if (!action.from) {
        DORMOUSE_CO_TRY_ASSIGN(action.from, co_await find_pointer(ports));
    }
    auto points = std::move(action.path);
    points.insert(points.begin(), *action.from);
    const auto screen = ports.screen();
    DORMOUSE_CO_TRY(still_on_screen(points, screen));
    auto drags = ports.input->drag(std::move(points), screen, cancel);
    co_return co_await with_held(ports, held, std::move(drags), cancel);
}

Task<Result<>> turn_wheel(ActionPorts ports, ScrollAction action, Chord held, Cancel cancel) {
    WheelTurns turns{action.direction, action.amount, action.at, std::move(held)};
    DORMOUSE_CO_TRY_ASSIGN(const bool turned, co_await ports.mouse.turn_wheel(std::move(turns)));
    if (turned) co_return Result<>{};
    if (action.direction == ScrollDirection::Left || action.direction == ScrollDirection::Right)
        co_return fail(Errc::Unavailable, "only the agent in the desktop can turn the wheel sideways",
                       "wait until the desktop is ready, or scroll with held shift: \"text\": \"shift\"");
    co_return co_await ports.input->scroll(action.direction, action.amount, cancel);
}

Task<Result<>> scroll(ActionPorts ports, ScrollAction action, Chord held, Cancel cancel) {
    DORMOUSE_CO_TRY(co_await point_at(ports, action.at, cancel));
    auto turns = turn_wheel(ports, action, held, cancel);
    co_return co_await with_held(ports, held, std::move(turns), cancel);
}

Task<Result<>> press_keys(ActionPorts ports, std::vector<Chord> chords, int repeat, Cancel cancel) {
    for (int i = 0; i < repeat; ++i)
        for (const auto& chord : chords) DORMOUSE_CO_TRY(co_await ports.input->press_chord(chord, cancel));
    co_return Result<>{};
}

Task<Result<>> hold_keys(ActionPorts ports, Chord chord, Duration time, Cancel cancel) {
    DORMOUSE_CO_TRY(co_await ports.input->hold(chord, cancel));
    DORMOUSE_CO_TRY(co_await pause(ports, time, cancel));
    co_return co_await ports.input->let_go(chord, cancel);
}

// What an action gave: a picture, a place, or nothing.
struct Given {
    std::optional<Picture> picture;
    std::optional<Point> pointer;
};

Task<Result<Given>> nothing(Task<Result<>> task) {
    DORMOUSE_CO_TRY(co_await std::move(task));
    co_return Given{};
}

Task<Result<Given>> picture(ActionPorts ports, PictureOptions options) {
    DORMOUSE_CO_TRY_ASSIGN(auto taken, co_await ports.take_screenshot(options));
    Given given;
    given.picture = std::move(taken);
    co_return given;
}

Task<Result<Given>> pointer(ActionPorts ports) {
    DORMOUSE_CO_TRY_ASSIGN(const auto point, co_await find_pointer(ports));
    Given given;
    given.pointer = point;
    co_return given;
}

// Not a coroutine: picks the one that does it.
Task<Result<Given>> perform(const ActionPorts& ports, PlannedAction planned, const PictureOptions& options,
                            Cancel cancel) {
    auto& held = planned.held;
    auto& chords = planned.chords;
    return std::visit(
        Overloaded{
            [&](const ScreenshotAction&) { return picture(ports, options); },
            [&](const ZoomAction&) { return picture(ports, planned.zoom); },
            [&](const CursorAction&) { return pointer(ports); },
            [&](const ClickAction& one) { return nothing(point_and_click(ports, one, held, cancel)); },
            [&](const MoveAction& one) { return nothing(move(ports, one, held, cancel)); },
            [&](const LeftButtonAction& one) { return nothing(left_button(ports, one, cancel)); },
            [&](const DragAction& one) { return nothing(drag(ports, one, held, cancel)); },
            [&](const ScrollAction& one) { return nothing(scroll(ports, one, held, cancel)); },
            [&](const KeyAction& one) { return nothing(press_keys(ports, chords, one.repeat, cancel)); },
            [&](const HoldKeyAction& one) {
                return nothing(hold_keys(ports, chords.front(), one.time, cancel));
            },
            [&](const TypeAction&) {
                TypingPorts typing{ports.loop, ports.input, ports.paste, ports.generation, ports.shown};
                return nothing(type_text(std::move(typing), std::move(planned.runs), cancel));
            },
            [&](const WaitAction& one) { return nothing(pause(ports, one.time, cancel)); },
        },
        planned.action);
}

bool sends_keys(const Action& action) {
    return std::holds_alternative<KeyAction>(action) || std::holds_alternative<HoldKeyAction>(action) ||
           std::holds_alternative<TypeAction>(action);
}

bool may_move_focus(const Action& action) {
    return std::holds_alternative<ClickAction>(action) || std::holds_alternative<DragAction>(action) ||
           std::holds_alternative<LeftButtonAction>(action) || std::holds_alternative<KeyAction>(action) ||
           std::holds_alternative<HoldKeyAction>(action);
}

ActionOutcome outcome_of(std::string_view name, Duration took, Given given, const CoordinateMap& map) {
    ActionOutcome outcome;
    outcome.action = name;
    outcome.took = std::chrono::floor<std::chrono::milliseconds>(took);
    outcome.picture = std::move(given.picture);
    if (given.pointer) outcome.pointer = map.from_screen(*given.pointer);
    return outcome;
}

Task<ActAnswer> carry_out(ActionPorts ports, std::vector<PlannedAction> actions, PictureOptions options,
                          CoordinateMap map, Cancel cancel) {
    ActAnswer answer;
    for (auto& planned : actions) {
        if (sends_keys(planned.action)) (void)co_await ports.reaction(cancel);
        const bool moves_focus = may_move_focus(planned.action);
        const auto before = ports.generation();
        if (cancel.cancelled()) {
            answer.failure = cancelled().value();
            break;
        }
        const auto name = action_name(planned.action);
        const auto start = ports.loop->clock().now();
        auto given = co_await perform(ports, std::move(planned), options, cancel);
        if (!given) {
            answer.failure = std::move(given.error());
            break;
        }
        const auto took = ports.loop->clock().now() - start;
        answer.done.push_back(outcome_of(name, took, std::move(*given), map));
        if (moves_focus) ports.focus_may_move(before);
    }
    if (answer.failure) answer.failed_at = answer.done.size();
    co_return answer;
}

}  // namespace

Task<ActAnswer> run_actions(ActionPorts ports, std::vector<Action> actions, ActOptions options,
                            Cancel cancel) {
    ActAnswer answer;
    const auto map = CoordinateMap::make(options.coordinates, ports.screen());
    auto wanted = map ? picture_of_call(options, *map) : fail(map.error());
    ActionPlan plan;
    if (wanted) plan = plan_actions(std::move(actions), *map, *wanted, ports.input->keeps_left());
    if (!wanted) plan.error = wanted.error();
    if (plan.error) {
        answer.failure = std::move(plan.error);
        answer.failed_at = plan.failed_at;
        const auto released = co_await ports.input->release_all();
        if (!released) log::warn("input.stuck", {{"why", released.error().message}});
        co_return answer;
    }
    // Left over from a call whose releases failed too.
    auto clean = co_await ports.input->release_all_but_kept();
    if (!clean) {
        answer.failure = std::move(clean.error());
        co_return answer;
    }
    auto work = carry_out(ports, std::move(plan.actions), *wanted, *map, cancel);
    answer = co_await std::move(work);
    // After success nothing is down but what is meant to be; after anything else something may be.
    auto ending = answer.failure ? ports.input->release_all() : ports.input->release_all_but_kept();
    const auto released = co_await std::move(ending);
    if (!released) log::warn("input.stuck", {{"why", released.error().message}});
    co_return answer;
}

}  // namespace dormouse::desktop

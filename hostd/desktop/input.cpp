// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/input.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "hostd/base/check.h"

namespace dormouse::desktop {

namespace {

using nlohmann::json;

// In down_, buttons (and the wheel, which QEMU has as buttons) are told from keys
// by a prefix that no key has.
constexpr std::string_view kButtonPrefix = "button:";

std::string_view button_name(Button button) {
    switch (button) {
        case Button::Left:
            return "left";
        case Button::Middle:
            return "middle";
        case Button::Right:
            return "right";
        case Button::Back:
            return "side";
        case Button::Forward:
            return "extra";
    }
    return "left";
}

std::string_view wheel_name(ScrollDirection direction) {
    switch (direction) {
        case ScrollDirection::Up:
            return "wheel-up";
        case ScrollDirection::Down:
            return "wheel-down";
        case ScrollDirection::Left:
            return "wheel-left";
        case ScrollDirection::Right:
            return "wheel-right";
    }
    return "wheel-down";
}

std::string button_edge(std::string_view name) {
    return std::string{kButtonPrefix} + std::string{name};
}

bool is_button(std::string_view what) {
    return what.substr(0, kButtonPrefix.size()) == kButtonPrefix;
}

// One event for `input-send-event`.
json edge_event(std::string_view what, bool down) {
    if (is_button(what))
        return {{"type", "btn"}, {"data", {{"button", what.substr(kButtonPrefix.size())}, {"down", down}}}};
    return {{"type", "key"}, {"data", {{"key", {{"type", "qcode"}, {"data", what}}}, {"down", down}}}};
}

json axis_event(std::string_view axis, int value) {
    return {{"type", "abs"}, {"data", {{"axis", axis}, {"value", value}}}};
}

tl::unexpected<Error> cancelled() {
    return fail(Errc::Interrupted, "the action was cancelled");
}

// The events of a report, for send. Made out here: GCC 12 cannot compile their
// braced lists inside a co_await.
json edge_report(std::string_view what, bool down) {
    return json::array({edge_event(what, down)});
}

json move_report(Point to, ScreenSize screen) {
    return json::array(
        {axis_event("x", axis_value(to.x, screen.width)), axis_event("y", axis_value(to.y, screen.height))});
}

// The way from one point to the other in so many steps, without the start.
std::vector<Point> way(Point from, Point to, int steps) {
    std::vector<Point> points;
    for (int step = 1; step <= steps; ++step) {
        const Point next{from.x + (to.x - from.x) * step / steps, from.y + (to.y - from.y) * step / steps};
        if (next != (points.empty() ? from : points.back())) points.push_back(next);
    }
    return points;
}

// A path of many points needs no steps in between.
int steps_between(std::size_t legs) {
    return std::max(1, pacing::kDragSteps / static_cast<int>(std::max<std::size_t>(legs, 1)));
}

}  // namespace

int axis_value(int pixel, int pixels) {
    DORMOUSE_CHECK(pixels > 0 && pixel >= 0 && pixel < pixels);
    return static_cast<int>((2LL * pixel + 1) * 16384 / pixels);
}

InputDevice::InputDevice(EventLoop& loop, Send send, Sync sync)
    : loop_(loop), send_(std::move(send)), sync_(std::move(sync)) {}

Task<void> InputDevice::count_entries(int entries) {
    unsynced_ += entries;
    if (unsynced_ < pacing::kMostUnsynced || !sync_) co_return;
    unsynced_ = 0;
    co_await sync_(std::exchange(moved_to_, std::nullopt));
}

Task<Result<>> InputDevice::pause(Duration time, Cancel cancel) {
    const bool whole = co_await sleep_unless_cancelled(loop_, time, cancel);
    if (!whole) co_return cancelled();
    co_return Result<>{};
}

// ---- single edges

Task<Result<>> InputDevice::set_edge(std::string what, bool down) {
    // Down before the send, up after it was accepted: when the answer is an error
    // nobody knows what the guest got, and releasing once too often is harmless.
    const auto known = std::find(down_.begin(), down_.end(), what);
    if (down && known == down_.end()) down_.push_back(what);
    auto sent = co_await send_(edge_report(what, down));
    if (sent && !down) std::erase(down_, what);
    co_await count_entries(pacing::kEdgeEntries);
    co_return sent;
}

Task<Result<>> InputDevice::set_key(QKeyCode key, bool down) {
    return set_edge(std::string{key}, down);
}

Task<Result<>> InputDevice::set_button(Button button, bool down) {
    return set_edge(button_edge(button_name(button)), down);
}

Task<Result<>> InputDevice::jump(Point to, ScreenSize screen) {
    // Both axes in one report, or the pointer would go round a corner.
    auto sent = co_await send_(move_report(to, screen));
    if (sent) position_ = moved_to_ = to;
    co_await count_entries(pacing::kMoveEntries);
    co_return sent;
}

Task<Result<>> InputDevice::go_along(std::vector<Point> points, ScreenSize screen, Cancel cancel) {
    for (const Point point : points) {
        DORMOUSE_CO_TRY(co_await jump(point, screen));
        DORMOUSE_CO_TRY(co_await pause(pacing::kDragStep * drag_pace_, cancel));
    }
    co_return Result<>{};
}

Task<Result<>> InputDevice::move(Point to, ScreenSize screen, Cancel cancel) {
    if (!keeps_left_ || !position_) co_return co_await jump(to, screen);
    co_return co_await go_along(way(*position_, to, pacing::kDragSteps), screen, cancel);
}

// ---- gestures

Task<Result<>> InputDevice::click(Button button, int count, Cancel cancel) {
    for (int i = 0; i < count; ++i) {
        if (i > 0) DORMOUSE_CO_TRY(co_await pause(pacing::kBetweenClicks, cancel));
        DORMOUSE_CO_TRY(co_await set_button(button, true));
        DORMOUSE_CO_TRY(co_await pause(pacing::kButtonHold, cancel));
        DORMOUSE_CO_TRY(co_await set_button(button, false));
    }
    co_return Result<>{};
}

Task<Result<>> InputDevice::drag(std::vector<Point> points, ScreenSize screen, Cancel cancel) {
    DORMOUSE_CHECK(!points.empty());
    DORMOUSE_CO_TRY(co_await jump(points.front(), screen));
    DORMOUSE_CO_TRY(co_await pause(pacing::kMoveToPress, cancel));
    DORMOUSE_CO_TRY(co_await set_button(Button::Left, true));
    DORMOUSE_CO_TRY(co_await pause(pacing::kDragGrip * drag_pace_, cancel));
    for (std::size_t i = 1; i < points.size(); ++i) {
        auto leg = way(points[i - 1], points[i], steps_between(points.size() - 1));
        DORMOUSE_CO_TRY(co_await go_along(std::move(leg), screen, cancel));
        if (points.size() <= pacing::kMostCorners)
            DORMOUSE_CO_TRY(co_await pause(pacing::kDragCorner * drag_pace_, cancel));
    }
    DORMOUSE_CO_TRY(co_await pause(pacing::kDragRelease * drag_pace_, cancel));
    co_return co_await set_button(Button::Left, false);
}

Task<Result<>> InputDevice::press_left(Cancel cancel) {
    keeps_left_ = true;
    DORMOUSE_CO_TRY(co_await set_button(Button::Left, true));
    co_return co_await pause(pacing::kDragGrip * drag_pace_, cancel);
}

Task<Result<>> InputDevice::release_left(Cancel cancel) {
    // What was dragged here takes notice of where it is.
    if (keeps_left_) DORMOUSE_CO_TRY(co_await pause(pacing::kDragRelease * drag_pace_, cancel));
    DORMOUSE_CO_TRY(co_await set_button(Button::Left, false));
    keeps_left_ = false;
    co_return Result<>{};
}

Task<Result<>> InputDevice::scroll(ScrollDirection direction, int amount, Cancel cancel) {
    const auto wheel = button_edge(wheel_name(direction));
    for (int i = 0; i < amount; ++i) {
        DORMOUSE_CO_TRY(co_await set_edge(wheel, true));
        DORMOUSE_CO_TRY(co_await pause(pacing::kWheelEdge, cancel));
        DORMOUSE_CO_TRY(co_await set_edge(wheel, false));
        DORMOUSE_CO_TRY(co_await pause(pacing::kWheelEdge, cancel));
    }
    co_return Result<>{};
}

Task<Result<>> InputDevice::press_chord(Chord chord, Cancel cancel) {
    DORMOUSE_CO_TRY(co_await hold(chord, cancel));
    co_return co_await let_go(chord, cancel);
}

Task<Result<>> InputDevice::hold(Chord chord, Cancel cancel) {
    for (const auto key : chord.keys) {
        DORMOUSE_CO_TRY(co_await set_key(key, true));
        DORMOUSE_CO_TRY(co_await pause(pacing::kKeyEdge, cancel));
    }
    co_return Result<>{};
}

Task<Result<>> InputDevice::let_go(Chord chord, Cancel cancel) {
    for (auto key = chord.keys.rbegin(); key != chord.keys.rend(); ++key) {
        DORMOUSE_CO_TRY(co_await set_key(*key, false));
        DORMOUSE_CO_TRY(co_await pause(pacing::kKeyEdge, cancel));
    }
    co_return Result<>{};
}

Task<Result<>> InputDevice::type(std::string characters, Cancel cancel) {
    bool shift = false;
    for (const char character : characters) {
        const auto stroke = us_keystroke(character);
        DORMOUSE_CHECK(stroke.has_value());  // plan_text() lets nothing else through
        if (stroke->shift != shift) {
            DORMOUSE_CO_TRY(co_await set_key(kShiftKey, stroke->shift));
            DORMOUSE_CO_TRY(co_await pause(pacing::kKeyEdge, cancel));
            shift = stroke->shift;
        }
        DORMOUSE_CO_TRY(co_await set_key(stroke->key, true));
        DORMOUSE_CO_TRY(co_await pause(pacing::kKeyEdge, cancel));
        DORMOUSE_CO_TRY(co_await set_key(stroke->key, false));
        DORMOUSE_CO_TRY(co_await pause(pacing::kKeyEdge, cancel));
    }
    if (shift) {
        DORMOUSE_CO_TRY(co_await set_key(kShiftKey, false));
        DORMOUSE_CO_TRY(co_await pause(pacing::kKeyEdge, cancel));
    }
    co_return Result<>{};
}

// ---- letting go

Task<Result<>> InputDevice::release_all() {
    auto released = co_await release({});
    keeps_left_ = false;
    co_return released;
}

Task<Result<>> InputDevice::release_all_but_kept() {
    std::set<std::string> but;
    if (keeps_left_) but.insert(button_edge(button_name(Button::Left)));
    co_return co_await release(std::move(but));
}

Task<Result<>> InputDevice::release(std::set<std::string> but) {
    Result<> last;
    const auto what_is_down = [&] {
        std::vector<std::string> order;
        std::copy_if(down_.rbegin(), down_.rend(), std::back_inserter(order),
                     [&](const std::string& what) { return but.count(what) == 0; });
        std::stable_partition(order.begin(), order.end(),
                              [](const std::string& what) { return is_button(what); });
        return order;
    };
    // The second round is for a failure that was a passing one.
    for (int round = 0; round < 2; ++round) {
        for (auto& what : what_is_down()) {
            auto released = co_await set_edge(what, false);
            if (!released) last = fail(released.error());
            co_await loop_.sleep(pacing::kKeyEdge);
        }
    }
    if (what_is_down().empty()) co_return Result<>{};
    co_return last;
}

Task<Result<>> InputDevice::release_everything_unknown() {
    std::vector<std::string> all;
    for (const auto button : {Button::Left, Button::Middle, Button::Right, Button::Back, Button::Forward})
        all.push_back(button_edge(button_name(button)));
    for (const auto key : pressable_keys()) all.emplace_back(key);
    for (std::size_t start = 0; start < all.size(); start += pacing::kReleaseGroup) {
        json events = json::array();
        const auto end = std::min(all.size(), start + pacing::kReleaseGroup);
        for (std::size_t i = start; i < end; ++i) events.push_back(edge_event(all[i], false));
        DORMOUSE_CO_TRY(co_await send_(std::move(events)));
        co_await loop_.sleep(pacing::kReleaseGroupPause);
    }
    down_.clear();
    keeps_left_ = false;
    co_return Result<>{};
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/schema/codec.h"
#include "hostd/schema/error.h"

namespace dormouse::schema {

constexpr std::size_t kMostActions = 100;           // in one request
constexpr int kLargestCoordinate = 32767;           // what a virtio tablet can say; the screen is smaller
constexpr int kMostScroll = 100;                    // clicks of the wheel
constexpr std::size_t kLongestKeyText = 200;        // bytes
constexpr std::size_t kLongestTypedText = 100'000;  // bytes
constexpr std::chrono::seconds kLongestWait{300};

enum class ActionKind {
    Screenshot,
    LeftClick,
    RightClick,
    DoubleClick,
    MouseMove,
    LeftClickDrag,
    Scroll,
    Key,
    Type,
    Wait,
};

std::string_view action_name(ActionKind kind);  // "left_click"
std::optional<ActionKind> action_from_name(std::string_view name);
std::span<const ActionKind> all_actions();

enum class ScrollDirection { Up, Down };

struct Point {
    int x = 0;  // pixels of the screen, from the left
    int y = 0;  // from the top
    friend bool operator==(const Point&, const Point&) = default;
};

// One action. Which fields it needs and may have depends on its kind:
//   screenshot                              -
//   left_click, right_click, double_click   coordinate?
//   mouse_move                              coordinate
//   left_click_drag                         start_coordinate, coordinate
//   scroll                                  scroll_direction, scroll_amount, coordinate?
//   key, type                               text
//   wait                                    duration
// What parse() has accepted fulfils this.
struct Action {
    ActionKind kind = ActionKind::Screenshot;
    std::optional<Point> coordinate;
    std::optional<Point> start_coordinate;
    std::optional<ScrollDirection> scroll_direction;
    std::optional<int> scroll_amount;  // 1 to kMostScroll
    std::optional<std::string> text;   // UTF-8 without U+0000; for key in xdotool's syntax
    std::optional<Duration> duration;  // seconds in JSON
    friend bool operator==(const Action&, const Action&) = default;
};

struct ActionsRequest {
    std::vector<Action> actions;  // 1 to kMostActions; JSON may be one action by itself
};

struct Image {
    std::string media_type;  // "image/png"
    std::string data;        // the bytes themselves; base64 in JSON
    int width = 0;
    int height = 0;
};

struct ActionResult {
    std::string action;
    bool ok = true;
    std::chrono::milliseconds took{};  // "took_ms" in JSON
    std::optional<Image> image;
};

// What has been done, and when not all of it: why not.
struct ActionsResponse {
    std::vector<ActionResult> results;
    std::optional<ErrorBody> failure;
};

std::string to_json(const ActionsRequest& request);
std::string to_json(const ActionsResponse& response);
template <>
Result<ActionsRequest> parse<ActionsRequest>(std::string_view text);
// Also reads the body of a plain error: it has a failure and no results.
template <>
Result<ActionsResponse> parse<ActionsResponse>(std::string_view text);

}  // namespace dormouse::schema

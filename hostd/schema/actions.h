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
#include "hostd/schema/picture.h"

namespace dormouse::schema {

constexpr std::size_t kMostActions = 100;           // in one request
constexpr int kLargestCoordinate = 32767;           // what a virtio tablet can say; the screen is smaller
constexpr int kMostScroll = 100;                    // clicks of the wheel
constexpr std::size_t kLongestKeyText = 200;        // bytes
constexpr std::size_t kLongestTypedText = 100'000;  // bytes
constexpr std::chrono::seconds kLongestWait{300};   // of wait and hold_key
constexpr int kMostRepeats = 100;
constexpr std::size_t kMostPathPoints = 1000;
constexpr int kLargestZoom = 4096;  // pixels

enum class ActionKind {
    Screenshot,
    Zoom,
    CursorPosition,
    LeftClick,
    RightClick,
    MiddleClick,
    BackClick,
    ForwardClick,
    DoubleClick,
    TripleClick,
    MouseMove,
    LeftMouseDown,
    LeftMouseUp,
    LeftClickDrag,
    Scroll,
    Key,
    HoldKey,
    Type,
    Wait,
};

std::string_view action_name(ActionKind kind);  // "left_click"
std::optional<ActionKind> action_from_name(std::string_view name);
std::span<const ActionKind> all_actions();

enum class ScrollDirection { Up, Down, Left, Right };
enum class TypeMethod { Auto, Keys, Paste };

struct Point {
    int x = 0;  // pixels of the screen, from the left
    int y = 0;  // from the top
    friend bool operator==(const Point&, const Point&) = default;
};
struct Box {
    int left = 0;
    int top = 0;
    int right = 0;  // outside, as is bottom
    int bottom = 0;
    friend bool operator==(const Box&, const Box&) = default;
};
struct Size {
    int width = 0;
    int height = 0;
    friend bool operator==(const Size&, const Size&) = default;
};

// One action. Which fields it needs and may have depends on its kind:
//   screenshot, cursor_position             -
//   zoom                                    region, size?
//   left_click, right_click, middle_click,
//   back_click, forward_click               coordinate?, text?, repeat?
//   double_click, triple_click              coordinate?, text?
//   mouse_move                              coordinate, text?
//   left_mouse_down, left_mouse_up          coordinate?
//   left_click_drag                         start_coordinate?, coordinate or path, text?
//   scroll                                  scroll_direction, scroll_amount, coordinate?, text?
//   key                                     text, repeat?
//   hold_key                                text, duration
//   type                                    text, method?
//   wait                                    duration
// What parse() has accepted fulfils this. In JSON the keys of key and hold_key
// may also be the list "keys", and those that a gesture holds "modifiers", a
// text or a list; both end up in `text`.
struct Action {
    ActionKind kind = ActionKind::Screenshot;
    std::optional<Point> coordinate;
    std::optional<Point> start_coordinate;
    std::vector<Point> path;
    std::optional<ScrollDirection> scroll_direction;
    std::optional<int> scroll_amount;  // 1 to kMostScroll
    std::optional<std::string> text;   // UTF-8 without U+0000; of type, else names of keys
    std::optional<Duration> duration;  // seconds in JSON
    std::optional<int> repeat;         // 1 to kMostRepeats
    std::optional<TypeMethod> method;
    std::optional<Box> region;
    std::optional<Size> size;
    friend bool operator==(const Action&, const Action&) = default;
};

enum class WithScreenshot { None, After, Settled };

// The size of the picture that coordinates are of: by its scale, or by its pixels.
struct Coordinates {
    double scale = 1;  // where size is absent
    std::optional<Size> size;
    friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

struct ActionsRequest {
    std::vector<Action> actions;  // 1 to kMostActions; JSON may be one action by itself
    WithScreenshot screenshot = WithScreenshot::None;
    PictureOptions image{};
    std::optional<Coordinates> coordinates{};
};

struct Image {
    std::string media_type;  // "image/png"
    std::string data;        // the bytes themselves; base64 in JSON
    int width = 0;           // of the picture
    int height = 0;
    int screen_width = 0;  // of the whole screen
    int screen_height = 0;
};

struct ActionResult {
    std::string action;
    bool ok = true;
    std::chrono::milliseconds took{};  // "took_ms" in JSON
    std::optional<Image> image;
    std::optional<Point> position;  // of cursor_position: "x" and "y" in JSON
};

struct Settling {
    bool settled = false;
    std::chrono::milliseconds took{};
};

// What has been done, and when not all of it: why not.
struct ActionsResponse {
    std::vector<ActionResult> results;
    std::optional<ErrorBody> failure;
    // Where a screenshot was asked for.
    std::optional<Image> screenshot{};
    std::optional<std::vector<Region>> changed{};
    std::optional<Settling> settling{};  // "settled" in JSON
};

std::string to_json(const ActionsRequest& request);
std::string to_json(const ActionsResponse& response);
template <>
Result<ActionsRequest> parse<ActionsRequest>(std::string_view text);
// Also reads the body of a plain error: it has a failure and no results.
template <>
Result<ActionsResponse> parse<ActionsResponse>(std::string_view text);

}  // namespace dormouse::schema

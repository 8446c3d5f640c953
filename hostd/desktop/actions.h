// SPDX-License-Identifier: Apache-2.0
// What is done on a screen. Names and meanings are those of Anthropic's computer
// tool. Points and regions are in the pixels of the picture that the caller saw
// (see Coordinates), else of the screen.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/desktop/picture.h"

namespace dormouse::desktop {

struct Point {
    int x = 0;  // from the left
    int y = 0;  // from the top
    friend bool operator==(const Point&, const Point&) = default;
};

// From the top left corner to the one at the bottom right, which lies outside.
struct Box {
    int left = 0;
    int top = 0;
    int right = 0;
    int bottom = 0;
    friend bool operator==(const Box&, const Box&) = default;
};

enum class Button { Left, Middle, Right, Back, Forward };
enum class ScrollDirection { Up, Down, Left, Right };
enum class TypeMethod {
    Auto,   // short ASCII by keys, all else by the clipboard; newlines and tabs are keys
    Keys,   // only what the keyboard has
    Paste,  // all of it at once by the clipboard, newlines and tabs too
};

// `held` below: keys to hold meanwhile, as KeyAction has them ("ctrl+shift").

struct ScreenshotAction {};
struct ZoomAction {
    Box region;
    int width = 0;  // of the picture; 0: as large as fits into what the caller sees
    int height = 0;
};
struct CursorAction {};  // where the pointer is
struct ClickAction {
    Button button = Button::Left;
    int count = 1;            // 2 is a double click
    std::optional<Point> at;  // absent: where the pointer is
    std::string held{};
    int repeat = 1;  // 1 to 100, so far apart that they are not a double click; only where count is 1
};
struct MoveAction {
    Point to;
    std::string held{};
};
// Down stays down for later actions and calls, up to kLongestButtonHold.
struct LeftButtonAction {
    bool down = true;
    std::optional<Point> at{};
};
struct DragAction {
    std::optional<Point> from;  // absent: where the pointer is
    std::vector<Point> path;    // 1 to 1000; the last is where the button comes up
    std::string held{};
};
struct ScrollAction {
    ScrollDirection direction = ScrollDirection::Down;
    int amount = 1;  // clicks of the wheel, 1 to 100
    std::optional<Point> at;
    std::string held{};
};
struct KeyAction {
    std::string keys;  // "Return", "ctrl+shift+t", "Down Down Return"; see key_names.h
    int repeat = 1;    // 1 to 100
};
struct HoldKeyAction {
    std::string keys;
    Duration time{};  // 0 to 300 s
};
struct TypeAction {
    std::string text;  // UTF-8
    TypeMethod method = TypeMethod::Auto;
};
struct WaitAction {
    Duration time{};  // 0 to 300 s
};

using Action =
    std::variant<ScreenshotAction, ZoomAction, CursorAction, ClickAction, MoveAction, LeftButtonAction,
                 DragAction, ScrollAction, KeyAction, HoldKeyAction, TypeAction, WaitAction>;

// The name under which an action is asked for: "left_click", "double_click", ...
std::string_view action_name(const Action& action);

// ---- for all the actions of one call

// The size of the picture that the caller looks at, where it is not the screen's.
struct Coordinates {
    double scale = 1;  // of the screen; only where width is 0
    int width = 0;
    int height = 0;
    friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

enum class WithScreenshot {
    None,
    After,    // as soon as the last action is done
    Settled,  // when the screen has come to rest after it
};

struct ActOptions {
    WithScreenshot screenshot = WithScreenshot::None;
    PictureOptions picture{};  // of every picture of this call; its region is in the caller's pixels
    std::optional<Coordinates> coordinates{};
};

// ---- what they give

struct ActionOutcome {
    std::string action;
    std::chrono::milliseconds took{};
    std::optional<Picture> picture;
    std::optional<Point> pointer;  // of CursorAction, in the caller's pixels
};

struct Settling {
    bool settled = false;  // false: it still moved when the time was up
    std::chrono::milliseconds took{};
};

// Of a call with a screenshot.
struct Aftermath {
    Picture screenshot;
    std::vector<Region> changed;  // since before the first action, in the caller's pixels
    std::optional<Settling> settling;
};

}  // namespace dormouse::desktop

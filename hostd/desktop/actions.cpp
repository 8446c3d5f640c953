// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/actions.h"

namespace dormouse::desktop {

namespace {

template <class... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

std::string_view click_name(const ClickAction& click) {
    if (click.count == 2) return "double_click";
    if (click.count == 3) return "triple_click";
    switch (click.button) {
        case Button::Left:
            return "left_click";
        case Button::Middle:
            return "middle_click";
        case Button::Right:
            return "right_click";
        case Button::Back:
            return "back_click";
        case Button::Forward:
            return "forward_click";
    }
    return "left_click";
}

}  // namespace

std::string_view action_name(const Action& action) {
    using Name = std::string_view;
    return std::visit(Overloaded{
                          [](const ScreenshotAction&) -> Name { return "screenshot"; },
                          [](const ZoomAction&) -> Name { return "zoom"; },
                          [](const CursorAction&) -> Name { return "cursor_position"; },
                          [](const ClickAction& click) { return click_name(click); },
                          [](const MoveAction&) -> Name { return "mouse_move"; },
                          [](const LeftButtonAction& button) -> Name {
                              return button.down ? "left_mouse_down" : "left_mouse_up";
                          },
                          [](const DragAction&) -> Name { return "left_click_drag"; },
                          [](const ScrollAction&) -> Name { return "scroll"; },
                          [](const KeyAction&) -> Name { return "key"; },
                          [](const HoldKeyAction&) -> Name { return "hold_key"; },
                          [](const TypeAction&) -> Name { return "type"; },
                          [](const WaitAction&) -> Name { return "wait"; },
                      },
                      action);
}

}  // namespace dormouse::desktop

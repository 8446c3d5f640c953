// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/commands.h"

namespace dormouse::desktop {

namespace {

// std::visit over one function object for each alternative; a missing one does
// not compile, which is what these lists are for.
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
    }
    return "left_click";
}

// Starting and stopping are also legal where they change nothing, so that a
// caller may say what it wants without looking first.
bool may_start(State state) {
    switch (state) {
        case State::Running:
        case State::Starting:
        case State::Stopped:
        case State::Failed:
            return true;
        case State::Creating:
        case State::Stopping:
        case State::Deleting:
            return false;
    }
    return false;
}

bool may_stop(State state) {
    switch (state) {
        case State::Creating:
        case State::Running:
        case State::Starting:
        case State::Stopping:
        case State::Stopped:
            return true;
        case State::Failed:
        case State::Deleting:
            return false;
    }
    return false;
}

bool may_restart(State state) {
    switch (state) {
        case State::Running:
        case State::Stopped:
        case State::Failed:
            return true;
        case State::Creating:
        case State::Starting:
        case State::Stopping:
        case State::Deleting:
            return false;
    }
    return false;
}

// Pictures come from the host's copy of the screen, which is there as soon as
// QEMU is: one can watch a desktop boot.
bool has_screen(State state) {
    switch (state) {
        case State::Running:
        case State::Starting:
        case State::Stopping:
            return true;
        case State::Creating:
        case State::Stopped:
        case State::Failed:
        case State::Deleting:
            return false;
    }
    return false;
}

}  // namespace

std::string_view action_name(const Action& action) {
    return std::visit(Overloaded{
                          [](const ScreenshotAction&) -> std::string_view { return "screenshot"; },
                          [](const ClickAction& click) { return click_name(click); },
                          [](const MoveAction&) -> std::string_view { return "mouse_move"; },
                          [](const DragAction&) -> std::string_view { return "left_click_drag"; },
                          [](const ScrollAction&) -> std::string_view { return "scroll"; },
                          [](const KeyAction&) -> std::string_view { return "key"; },
                          [](const TypeAction&) -> std::string_view { return "type"; },
                          [](const WaitAction&) -> std::string_view { return "wait"; },
                      },
                      action);
}

std::string_view command_name(const Command& command) {
    return std::visit(Overloaded{
                          [](const CreateDesktop&) -> std::string_view { return "desktop.create"; },
                          [](const ListDesktops&) -> std::string_view { return "desktop.list"; },
                          [](const GetDesktop&) -> std::string_view { return "desktop.get"; },
                          [](const DeleteDesktop&) -> std::string_view { return "desktop.delete"; },
                          [](const StartDesktop&) -> std::string_view { return "desktop.start"; },
                          [](const StopDesktop&) -> std::string_view { return "desktop.stop"; },
                          [](const RestartDesktop&) -> std::string_view { return "desktop.restart"; },
                          [](const SetNetwork&) -> std::string_view { return "desktop.set_network"; },
                          [](const ListDestinations&) -> std::string_view { return "desktop.destinations"; },
                          [](const TakeScreenshot&) -> std::string_view { return "desktop.screenshot"; },
                          [](const Act&) -> std::string_view { return "desktop.act"; },
                          [](const RunProgram&) -> std::string_view { return "desktop.exec"; },
                          [](const CreateToken&) -> std::string_view { return "token.create"; },
                          [](const ListTokens&) -> std::string_view { return "token.list"; },
                          [](const DeleteToken&) -> std::string_view { return "token.delete"; },
                      },
                      command);
}

bool allowed(const Command& command, Scope scope) {
    const bool for_admins = std::visit(Overloaded{
                                           [](const CreateToken&) { return true; },
                                           [](const ListTokens&) { return true; },
                                           [](const DeleteToken&) { return true; },
                                           [](const CreateDesktop&) { return false; },
                                           [](const ListDesktops&) { return false; },
                                           [](const GetDesktop&) { return false; },
                                           [](const DeleteDesktop&) { return false; },
                                           [](const StartDesktop&) { return false; },
                                           [](const StopDesktop&) { return false; },
                                           [](const RestartDesktop&) { return false; },
                                           [](const SetNetwork&) { return false; },
                                           [](const ListDestinations&) { return false; },
                                           [](const TakeScreenshot&) { return false; },
                                           [](const Act&) { return false; },
                                           [](const RunProgram&) { return false; },
                                       },
                                       command);
    return scope == Scope::Admin || !for_admins;
}

bool legal(const Command& command, State state) {
    return std::visit(Overloaded{
                          [](const CreateDesktop&) { return true; },
                          [](const ListDesktops&) { return true; },
                          [](const GetDesktop&) { return true; },
                          [&](const DeleteDesktop&) { return state != State::Deleting; },
                          [&](const StartDesktop&) { return may_start(state); },
                          [&](const StopDesktop&) { return may_stop(state); },
                          [&](const RestartDesktop&) { return may_restart(state); },
                          [&](const SetNetwork&) { return state != State::Deleting; },
                          [](const ListDestinations&) { return true; },
                          [&](const TakeScreenshot&) { return has_screen(state); },
                          [&](const Act&) { return state == State::Running; },
                          [&](const RunProgram&) { return state == State::Running; },
                          [](const CreateToken&) { return true; },
                          [](const ListTokens&) { return true; },
                          [](const DeleteToken&) { return true; },
                      },
                      command);
}

}  // namespace dormouse::desktop

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

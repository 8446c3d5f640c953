// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/desktop/action_plan.h"
#include "hostd/desktop/commands.h"
#include "hostd/desktop/input.h"
#include "hostd/desktop/typing.h"

namespace dormouse::desktop {

// Turns of the wheel at the pointer, which was sent to `at` (of the screen) and
// for which `held` was pressed: the guest may not have got that far yet.
struct WheelTurns {
    ScrollDirection direction = ScrollDirection::Down;
    int amount = 1;
    std::optional<Point> at;
    Chord held;
};

// The mouse as the agent in the guest sees and moves it.
struct GuestMousePort {
    std::function<Task<Result<Point>>()> position;
    // False: there is no agent now that can, and nothing was turned. Any other
    // error: some of it may have been.
    std::function<Task<Result<bool>>(WheelTurns turns)> turn_wheel;
};

// What actions need of a desktop. All functions are called on the core thread
// and must stay callable until run_actions() has ended.
struct ActionPorts {
    EventLoop* loop = nullptr;
    std::shared_ptr<InputDevice> input;
    std::function<ScreenSize()> screen;
    std::function<Task<Result<Picture>>(PictureOptions options)> take_screenshot;
    PastePort paste;
    GuestMousePort mouse;
    // A click, a drag or keys may move the focus, but only some time after they
    // were sent, and what is typed before that goes astray (tried: ctrl+l in
    // Chromium under emulation loses up to four characters that follow). So after
    // each of them focus_may_move() is told the screen's generation before it,
    // and before keys are sent reaction() waits until the effect of the last one,
    // also of an earlier call, shows and has come to rest. It is bounded and
    // never fails.
    std::function<std::uint64_t()> generation;
    std::function<void(std::uint64_t before)> focus_may_move;
    std::function<Task<Result<>>(Cancel cancel)> reaction;
    std::function<Task<void>(std::uint64_t before, Cancel cancel)> shown;  // see TypingPorts
};

// Carries out `actions` in order and stops at the first that fails. All of them
// are checked first: when one is wrong in itself nothing is sent at all. However
// it ends (success, failure, cancelled: Errc::Interrupted), every key and button
// that was pressed is released before it returns, even where the failure was
// that of a send; only after a success a left button stays down for which
// left_mouse_down asked. Callers see to it that only one call runs for a desktop.
// The answer has no aftermath.
Task<ActAnswer> run_actions(ActionPorts ports, std::vector<Action> actions, ActOptions options,
                            Cancel cancel);

}  // namespace dormouse::desktop

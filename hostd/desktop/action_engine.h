// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/desktop/commands.h"
#include "hostd/desktop/input.h"

namespace dormouse::desktop {

inline constexpr std::size_t kMostActions = 100;  // in one call
inline constexpr int kMostScroll = 100;           // clicks of the wheel
inline constexpr int kMostClicks = 3;
inline constexpr Duration kLongestWait = std::chrono::seconds{300};

// An emulated guest under load takes seconds to react to a shortcut; one that
// has not fetched the text by then has nothing focused that takes text.
inline constexpr Duration kPasteTimeout = std::chrono::seconds{8};
// Programs hear of a new owner of the clipboard some time after; a shortcut that
// comes before pastes what was there, or nothing.
inline constexpr Duration kClipboardNews = std::chrono::milliseconds{150};
// What was fetched must be put in before the keys that follow.
inline constexpr Duration kPasteSettle = std::chrono::milliseconds{100};

// The clipboard of the desktop, through the agent in the guest.
struct PastePort {
    // Puts `text` (UTF-8) on the clipboard, remembering what was there, and
    // tells by which keys the focused window pastes ("ctrl+v").
    std::function<Task<Result<std::string>>(std::string text)> begin;
    // Whether the text was fetched within `timeout`, and nobody asks for it any
    // more. Ends soon, with any value, when `cancel` is cancelled.
    std::function<Task<Result<bool>>(Duration timeout, Cancel cancel)> wait_fetched;
    // Puts back what begin() found. Called once after each begin() that did not fail.
    std::function<Task<Result<>>()> restore;
};

// What actions need of a desktop. All functions are called on the core thread
// and must stay callable until run_actions() has ended.
struct ActionPorts {
    EventLoop* loop = nullptr;
    std::shared_ptr<InputDevice> input;
    std::function<ScreenSize()> screen;
    std::function<Task<Result<Picture>>()> take_screenshot;
    PastePort paste;
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
};

// Carries out `actions` in order and stops at the first that fails. All of them
// are checked first: when one is wrong in itself nothing is sent at all. However
// it ends (success, failure, cancelled: Errc::Interrupted), every key and button
// that was pressed is released before it returns, even where the failure was
// that of a send. Callers see to it that only one call runs for a desktop.
Task<ActAnswer> run_actions(ActionPorts ports, std::vector<Action> actions, Cancel cancel);

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/desktop/input.h"
#include "hostd/desktop/text_plan.h"

namespace dormouse::desktop {

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
    // Called when all is ready, just before those keys are pressed.
    std::function<Task<void>()> before_shortcut;
    // Whether the text was fetched within `timeout`, and nobody asks for it any
    // more. Ends soon, with any value, when `cancel` is cancelled.
    std::function<Task<Result<bool>>(Duration timeout, Cancel cancel)> wait_fetched;
    // Puts back what the first of several begin() found; also after one that
    // failed, since that may have been its answer only. Nothing to put back is no error.
    std::function<Task<Result<>>()> restore;
};

// What typing needs of a desktop; as ActionPorts.
struct TypingPorts {
    EventLoop* loop = nullptr;
    std::shared_ptr<InputDevice> input;
    PastePort paste;
    // The screen's generation; and: waits until what was sent after that one shows
    // and has come to rest. It is bounded and never fails. A program that is still
    // busy with what came before lets a paste overtake the keys before it (tried:
    // Chromium under emulation put a newline behind the paste that followed it).
    std::function<std::uint64_t()> generation;
    std::function<Task<void>(std::uint64_t before, Cancel cancel)> shown;
};

// Writes what plan_text() gave into the focused window. Where nothing takes a
// paste, what keys can write is written by keys, for the rest of the text too;
// else that is Errc::Timeout. Keys may be down after an error.
Task<Result<>> type_text(TypingPorts ports, std::vector<TextRun> runs, Cancel cancel);

}  // namespace dormouse::desktop

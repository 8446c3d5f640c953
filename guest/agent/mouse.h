// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "guest/agent/x_session.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/task.h"

namespace dormouse::agent {

struct PointerState {
    int x = 0;  // pixels of the screen
    int y = 0;
    std::uint16_t mask = 0;  // of XCB_KEY_BUT_MASK_*: modifiers and buttons that are down
};
// Waits for the X server, as XConnection lets it.
std::optional<PointerState> read_pointer(XConnection& x);

// X has a button for each way the wheel turns.
enum class WheelButton : std::uint8_t { Up = 4, Down = 5, Left = 6, Right = 7 };

struct WheelTurns {
    WheelButton button = WheelButton::Down;
    int amount = 1;
    std::optional<std::pair<int, int>> at;  // where the pointer is on its way to
    std::uint16_t modifiers = 0;            // the mask of those that are being pressed
};

// Turns the wheel with XTEST. QEMU's tablet has no horizontal wheel, and its
// vertical one makes XI2 scroll positions, of which Chromium and GTK take the
// first after the pointer has come into their window for where they begin: one
// turn is lost. Presses of buttons without positions all count.
//
// What the host sent before by other ways comes through the kernel and may be
// later: so it is waited, up to kArrival, until the pointer is at `at` and the
// modifiers are down. The value: whether they were. Errc::Unavailable.
Task<Result<bool>> turn_wheel(EventLoop& loop, std::shared_ptr<XSession> session, WheelTurns turns);

}  // namespace dormouse::agent

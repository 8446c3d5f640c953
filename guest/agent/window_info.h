// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "guest/agent/x_connection.h"

namespace dormouse::agent {

struct ScreenSize {
    int width = 0;
    int height = 0;
};

struct ActiveWindow {
    xcb_window_t window = XCB_NONE;
    std::string window_class;  // the second part of WM_CLASS, as "Xfce4-terminal"
    std::string title;
};

struct DesktopStatus {
    bool session_ready = false;   // a window manager, and a desktop or panel on screen
    bool browser_window = false;  // a window of Chromium on screen
    std::optional<ScreenSize> screen;
    std::optional<ActiveWindow> active;
};

// All of these wait for the X server, at most as long as XConnection lets them.
// What applications wrote is cut to a few hundred bytes and may be any bytes.
std::optional<ScreenSize> read_screen_size(XConnection& x);
std::optional<ActiveWindow> read_active_window(XConnection& x);
DesktopStatus read_status(XConnection& x);

// Whether Shift+Insert, not Ctrl+V, pastes in windows of this class.
bool is_terminal_class(std::string_view window_class);

}  // namespace dormouse::agent

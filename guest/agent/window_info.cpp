// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/window_info.h"

#include <algorithm>
#include <array>

namespace dormouse::agent {

namespace {

constexpr std::size_t kMaxWindows = 200;
constexpr std::size_t kMaxText = 512;

std::string lower(std::string_view text) {
    std::string out{text};
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

// WM_CLASS is "instance\0class\0".
std::string class_of(const Property& property) {
    const std::string_view text{property.bytes};
    const auto first = text.find('\0');
    if (first == std::string_view::npos) return std::string{text};
    const auto rest = text.substr(first + 1);
    return std::string{rest.substr(0, rest.find('\0'))};
}

std::vector<std::uint32_t> numbers_of(XConnection& x, xcb_window_t window, Atom name, std::size_t limit) {
    auto values = x.property(x.ask_property(window, x.atom(name), limit * 4)).numbers();
    return values;
}

// EWMH: the root names a window, and that window names itself. After a window
// manager has died only the first is true.
bool has_window_manager(XConnection& x) {
    const auto named = numbers_of(x, x.root(), Atom::NetSupportingWmCheck, 1);
    if (named.empty() || named[0] == XCB_NONE) return false;
    return numbers_of(x, named[0], Atom::NetSupportingWmCheck, 1) == named;
}

struct Questions {
    xcb_get_window_attributes_cookie_t attributes;
    xcb_get_property_cookie_t type;
    xcb_get_property_cookie_t window_class;
};

// Asks about all windows before it waits for the first answer.
void look_at_windows(XConnection& x, DesktopStatus& status) {
    const auto windows = numbers_of(x, x.root(), Atom::NetClientList, kMaxWindows);
    std::vector<Questions> asked;
    for (const auto window : windows) {
        asked.push_back({xcb_get_window_attributes(x.get(), window),
                         x.ask_property(window, x.atom(Atom::NetWmWindowType), 64),
                         x.ask_property(window, XCB_ATOM_WM_CLASS, kMaxText)});
    }
    bool shell = false;
    for (const auto& question : asked) {
        const auto attributes = x.wait<xcb_get_window_attributes_reply_t>(question.attributes);
        const auto types = x.property(question.type).numbers();
        const auto window_class = lower(class_of(x.property(question.window_class)));
        if (!attributes || attributes->map_state != XCB_MAP_STATE_VIEWABLE) continue;
        shell = shell || std::any_of(types.begin(), types.end(), [&](xcb_atom_t type) {
                    return type == x.atom(Atom::NetWmWindowTypeDesktop) ||
                           type == x.atom(Atom::NetWmWindowTypeDock);
                });
        if (window_class.find("chromium") != std::string::npos) status.browser_window = true;
    }
    status.session_ready = shell && has_window_manager(x);
}

}  // namespace

std::optional<ScreenSize> read_screen_size(XConnection& x) {
    // Not the size from the handshake: RandR may have changed it.
    const auto reply = x.wait<xcb_get_geometry_reply_t>(xcb_get_geometry(x.get(), x.root()));
    if (!reply) return std::nullopt;
    return ScreenSize{reply->width, reply->height};
}

std::optional<ActiveWindow> read_active_window(XConnection& x) {
    const auto named = numbers_of(x, x.root(), Atom::NetActiveWindow, 1);
    if (named.empty() || named[0] == XCB_NONE) return std::nullopt;
    const auto window_class = x.ask_property(named[0], XCB_ATOM_WM_CLASS, kMaxText);
    const auto title = x.ask_property(named[0], x.atom(Atom::NetWmName), kMaxText);
    const auto old_title = x.ask_property(named[0], XCB_ATOM_WM_NAME, kMaxText);
    ActiveWindow active;
    active.window = named[0];
    active.window_class = class_of(x.property(window_class));
    active.title = x.property(title).bytes;
    const auto fallback = x.property(old_title).bytes;
    if (active.title.empty()) active.title = fallback;
    return active;
}

DesktopStatus read_status(XConnection& x) {
    DesktopStatus status;
    status.screen = read_screen_size(x);
    status.active = read_active_window(x);
    look_at_windows(x, status);
    return status;
}

bool is_terminal_class(std::string_view window_class) {
    constexpr std::array<std::string_view, 20> names{
        "terminal", "xterm",   "uxterm",    "konsole",     "terminator", "tilix",    "kitty",
        "urxvt",    "rxvt",    "st",        "st-256color", "sakura",     "roxterm",  "tilda",
        "guake",    "yakuake", "qterminal", "wezterm",     "foot",       "alacritty"};
    const auto name = lower(window_class);
    // xfce4-terminal, gnome-terminal-server, lxterminal, mate-terminal, org.wezfurlong.wezterm …
    if (name.find("terminal") != std::string::npos || name.find("wezterm") != std::string::npos) return true;
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace dormouse::agent

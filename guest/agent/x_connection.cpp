// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/x_connection.h"

#include <poll.h>
#include <xcb/xcbext.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "guest/agent/x_authority.h"

namespace dormouse::agent {

namespace {

// The server is on the same machine. Under emulation, at boot, a second without
// an answer has been seen; after two something is wrong.
constexpr auto kReplyTimeout = std::chrono::seconds{2};
// Any client may send us events; more than this at once are dropped.
constexpr std::size_t kMaxStashed = 4096;

constexpr std::array<std::string_view, static_cast<std::size_t>(Atom::Count)> kAtomNames{
    "CLIPBOARD",
    "TARGETS",
    "TIMESTAMP",
    "UTF8_STRING",
    "text/plain;charset=utf-8",
    "TEXT",
    "INCR",
    "image/png",
    "text/html",
    "text/uri-list",
    "x-special/gnome-copied-files",
    "_NET_SUPPORTING_WM_CHECK",
    "_NET_ACTIVE_WINDOW",
    "_NET_CLIENT_LIST",
    "_NET_WM_NAME",
    "_NET_WM_WINDOW_TYPE",
    "_NET_WM_WINDOW_TYPE_DESKTOP",
    "_NET_WM_WINDOW_TYPE_DOCK",
    "DORMOUSE_TIME",
    "DORMOUSE_TRANSFER_0",
    "DORMOUSE_TRANSFER_1",
    "DORMOUSE_TRANSFER_2",
    "DORMOUSE_TRANSFER_3",
};

MonotonicTime now() {
    return std::chrono::steady_clock::now();
}

}  // namespace

std::vector<std::uint32_t> Property::numbers() const {
    std::vector<std::uint32_t> values;
    if (format != 32) return values;
    values.resize(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), values.size() * 4);
    return values;
}

Result<std::unique_ptr<XConnection>> XConnection::connect(const std::string& display) {
    int screen = 0;
    const auto attempt = [&](xcb_auth_info_t* auth) -> Handle {
        Handle handle{xcb_connect_to_display_with_auth_info(display.c_str(), auth, &screen)};
        if (xcb_connection_has_error(handle.get()) != 0) return {};
        return handle;
    };
    Handle handle;
    for (const auto& file : authority_files(display)) {
        for (auto& cookie : read_cookies(file, display)) {
            std::string name = "MIT-MAGIC-COOKIE-1";
            xcb_auth_info_t auth{static_cast<int>(name.size()), name.data(), static_cast<int>(cookie.size()),
                                 cookie.data()};
            if (!handle) handle = attempt(&auth);
        }
    }
    if (!handle) {
        xcb_auth_info_t none{0, nullptr, 0, nullptr};
        handle = attempt(&none);
    }
    if (!handle) return fail(Errc::Unavailable, fmt::format("no X server lets us in at {}", display));
    std::unique_ptr<XConnection> connection{new XConnection{std::move(handle), screen}};
    DORMOUSE_TRY(connection->set_up());
    return connection;
}

XConnection::XConnection(Handle connection, int screen_number) : connection_(std::move(connection)) {
    const auto* setup = xcb_get_setup(connection_.get());
    auto screens = xcb_setup_roots_iterator(setup);
    for (int i = 0; i < screen_number && screens.rem > 1; ++i) xcb_screen_next(&screens);
    screen_ = screens.data;
    id_mask_ = setup->resource_id_mask;
}

Result<> XConnection::set_up() {
    std::array<xcb_intern_atom_cookie_t, kAtomNames.size()> cookies{};
    for (std::size_t i = 0; i < kAtomNames.size(); ++i) {
        cookies[i] =
            xcb_intern_atom(get(), 0, static_cast<std::uint16_t>(kAtomNames[i].size()), kAtomNames[i].data());
    }
    for (std::size_t i = 0; i < kAtomNames.size(); ++i) {
        const auto reply = wait<xcb_intern_atom_reply_t>(cookies[i]);
        if (!reply) return fail(Errc::Unavailable, "the X server does not answer");
        atoms_[i] = reply->atom;
    }
    max_request_bytes_ = std::size_t{xcb_get_maximum_request_length(get())} * 4;
    window_ = xcb_generate_id(get());
    const std::array<std::uint32_t, 2> values{1, XCB_EVENT_MASK_PROPERTY_CHANGE};
    xcb_create_window(get(), XCB_COPY_FROM_PARENT, window_, root(), -10, -10, 1, 1, 0,
                      XCB_WINDOW_CLASS_INPUT_ONLY, XCB_COPY_FROM_PARENT,
                      XCB_CW_OVERRIDE_REDIRECT | XCB_CW_EVENT_MASK, values.data());
    flush();
    return {};
}

bool XConnection::wait_readable(MonotonicTime deadline) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now()).count();
    if (left <= 0) return false;
    pollfd entry{fd(), POLLIN, 0};
    ::poll(&entry, 1, static_cast<int>(left));
    return true;
}

void* XConnection::wait_sequence(unsigned sequence) {
    flush();
    const auto deadline = now() + kReplyTimeout;
    while (!broken()) {
        void* reply = nullptr;
        xcb_generic_error_t* error = nullptr;
        if (xcb_poll_for_reply(get(), sequence, &reply, &error) != 0) {
            std::free(error);
            if (on_read_) on_read_();
            return reply;
        }
        if (!wait_readable(deadline)) broken_ = true;
    }
    return nullptr;
}

xcb_get_property_cookie_t XConnection::ask_property(xcb_window_t window, xcb_atom_t name,
                                                    std::size_t max_bytes, bool remove) const {
    return xcb_get_property(get(), remove ? 1 : 0, window, name, XCB_GET_PROPERTY_TYPE_ANY, 0,
                            static_cast<std::uint32_t>((max_bytes + 3) / 4));
}

Property XConnection::property(xcb_get_property_cookie_t cookie) {
    Property property;
    const auto reply = wait<xcb_get_property_reply_t>(cookie);
    if (!reply) return property;
    property.type = reply->type;
    property.format = reply->format;
    const auto length = xcb_get_property_value_length(reply.get());
    if (length > 0) {
        property.bytes.assign(static_cast<const char*>(xcb_get_property_value(reply.get())),
                              static_cast<std::size_t>(length));
    }
    property.whole = reply->bytes_after == 0;
    return property;
}

Result<xcb_timestamp_t> XConnection::server_time() {
    const auto name = atom(Atom::TouchTime);
    xcb_change_property(get(), XCB_PROP_MODE_APPEND, window_, name, XCB_ATOM_INTEGER, 32, 0, nullptr);
    flush();
    const auto deadline = now() + kReplyTimeout;
    while (!broken()) {
        XEvent event{now() < deadline ? xcb_poll_for_event(get()) : nullptr};
        if (!event) {
            if (!wait_readable(deadline)) broken_ = true;
            continue;
        }
        if (event->response_type == XCB_PROPERTY_NOTIFY) {
            const auto* notify = reinterpret_cast<const xcb_property_notify_event_t*>(event.get());
            if (notify->window == window_ && notify->atom == name) {
                if (on_read_) on_read_();
                return notify->time;
            }
        }
        if (stashed_.size() < kMaxStashed) stashed_.push_back(std::move(event));
    }
    return fail(Errc::Unavailable, "the X server does not answer");
}

XEvent XConnection::next_event() {
    if (!stashed_.empty()) {
        auto event = std::move(stashed_.front());
        stashed_.pop_front();
        return event;
    }
    return XEvent{xcb_poll_for_event(get())};
}

}  // namespace dormouse::agent

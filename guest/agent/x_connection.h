// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xcb/xcb.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/result.h"

namespace dormouse::agent {

// Every event and reply of xcb is one malloc()ed block that is ours to free.
struct FreeXcb {
    void operator()(void* block) const noexcept { std::free(block); }
};
template <class T>
using XcbPtr = std::unique_ptr<T, FreeXcb>;
using XEvent = XcbPtr<xcb_generic_event_t>;

enum class Atom {
    Clipboard,
    Targets,
    Timestamp,
    Utf8String,
    TextPlainUtf8,
    Text,
    Incr,
    ImagePng,
    TextHtml,
    TextUriList,
    GnomeCopiedFiles,
    NetSupportingWmCheck,
    NetActiveWindow,
    NetClientList,
    NetWmName,
    NetWmWindowType,
    NetWmWindowTypeDesktop,
    NetWmWindowTypeDock,
    TouchTime,
    Transfer0,  // properties on our window that selections arrive in
    Transfer1,
    Transfer2,
    Transfer3,
    Count,
};
constexpr std::size_t kTransferAtoms = 4;

// A property's value, as far as it was asked for.
struct Property {
    xcb_atom_t type = XCB_ATOM_NONE;
    int format = 0;
    std::string bytes;
    bool whole = true;                           // false: there is more than was asked for
    std::vector<std::uint32_t> numbers() const;  // of a format 32 property
};

// One connection to the X server, with a window of our own that is never shown.
// No wait here is longer than kReplyTimeout; after one that was in vain, or when
// the server goes away, broken() is true for good and all calls fail at once.
class XConnection {
  public:
    // Tries each cookie that may fit, then none. Errc::Unavailable when no server answers.
    static Result<std::unique_ptr<XConnection>> connect(const std::string& display);

    xcb_connection_t* get() const { return connection_.get(); }
    int fd() const { return xcb_get_file_descriptor(connection_.get()); }
    xcb_window_t root() const { return screen_->root; }
    xcb_window_t window() const { return window_; }
    xcb_atom_t atom(Atom name) const { return atoms_[static_cast<std::size_t>(name)]; }
    xcb_atom_t transfer_atom(std::size_t index) const {
        return atoms_[static_cast<std::size_t>(Atom::Transfer0) + index];
    }
    std::size_t max_request_bytes() const { return max_request_bytes_; }
    bool same_client(xcb_window_t a, xcb_window_t b) const { return (a & ~id_mask_) == (b & ~id_mask_); }

    bool broken() const { return broken_ || xcb_connection_has_error(connection_.get()) != 0; }
    void flush() const { xcb_flush(connection_.get()); }

    // The reply to a request, or null: an error (its window is gone), or broken().
    template <class Reply, class Cookie>
    XcbPtr<Reply> wait(Cookie cookie) {
        return XcbPtr<Reply>{static_cast<Reply*>(wait_sequence(cookie.sequence))};
    }

    xcb_get_property_cookie_t ask_property(xcb_window_t window, xcb_atom_t name, std::size_t max_bytes,
                                           bool remove = false) const;
    Property property(xcb_get_property_cookie_t cookie);

    // The server's present time, as ICCCM wants it for owning a selection.
    Result<xcb_timestamp_t> server_time();

    // Null when there is none now. Does not block.
    XEvent next_event();

    // Called when a wait has read from the socket: events may be there that
    // poll() will not tell of.
    void set_on_read(std::function<void()> callback) { on_read_ = std::move(callback); }

  private:
    struct Disconnect {
        void operator()(xcb_connection_t* connection) const noexcept { xcb_disconnect(connection); }
    };
    using Handle = std::unique_ptr<xcb_connection_t, Disconnect>;

    XConnection(Handle connection, int screen_number);
    Result<> set_up();
    void* wait_sequence(unsigned sequence);
    bool wait_readable(MonotonicTime deadline) const;

    Handle connection_;
    const xcb_screen_t* screen_ = nullptr;
    xcb_window_t window_ = XCB_NONE;
    std::uint32_t id_mask_ = 0;
    std::size_t max_request_bytes_ = 0;
    bool broken_ = false;
    std::array<xcb_atom_t, static_cast<std::size_t>(Atom::Count)> atoms_{};
    std::deque<XEvent> stashed_;  // read while waiting for something else
    std::function<void()> on_read_;
};

}  // namespace dormouse::agent

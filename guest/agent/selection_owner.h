// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/agent/x_connection.h"
#include "hostd/base/event_loop.h"

namespace dormouse::agent {

// What a selection holds: a text, and the same in forms that only some programs
// know, under the names of their X targets.
struct SelectionContent {
    struct Form {
        xcb_atom_t target;
        std::string bytes;
    };
    std::optional<std::string> text;  // UTF-8
    std::vector<Form> forms;
    bool empty() const { return !text && forms.empty(); }
};

// Owns X selections and serves their content to whoever asks, as ICCCM tells:
// TARGETS, TIMESTAMP, UTF8_STRING, text/plain;charset=utf-8, TEXT and, where the
// text allows it, STRING; long texts in pieces (INCR).
//
// For one connection, which must outlive it. The loop's thread.
class SelectionOwner {
  public:
    struct Fetch {
        xcb_atom_t selection;
        xcb_window_t requestor;
    };

    SelectionOwner(EventLoop& loop, XConnection& connection);
    ~SelectionOwner();
    SelectionOwner(const SelectionOwner&) = delete;
    SelectionOwner& operator=(const SelectionOwner&) = delete;

    Result<> own(xcb_atom_t selection, std::string text);
    Result<> own(xcb_atom_t selection, SelectionContent content);
    void give_up(xcb_atom_t selection);

    bool owns(xcb_atom_t selection) const { return owned_.count(selection) > 0; }
    SelectionContent content(xcb_atom_t selection) const;
    // Null when somebody else, or nobody, owns it, and when it holds no text.
    const std::string* text(xcb_atom_t selection) const;

    void on_event(const xcb_generic_event_t& event);

    // Called when a requestor was given a text (not for TARGETS and TIMESTAMP).
    void set_on_fetched(std::function<void(const Fetch&)> callback) { on_fetched_ = std::move(callback); }

    // Longer texts go in pieces of this size.
    void set_piece_bytes(std::size_t bytes) { piece_bytes_ = bytes; }

  private:
    struct Owned {
        std::shared_ptr<const std::string> text;  // null: none
        std::map<xcb_atom_t, std::shared_ptr<const std::string>> forms;
        xcb_timestamp_t since = 0;
    };
    // One text on its way to a requestor in pieces.
    struct Transfer {
        xcb_atom_t selection;
        xcb_window_t requestor;
        xcb_atom_t property;
        xcb_atom_t type;
        std::shared_ptr<const std::string> text;
        std::size_t sent = 0;
        EventLoop::TimerId timer = 0;
    };

    void on_clear(xcb_atom_t selection);
    void on_request(const xcb_selection_request_event_t& request);
    bool answer(const Owned& owned, const xcb_selection_request_event_t& request, xcb_atom_t property);
    bool deliver(const xcb_selection_request_event_t& request, xcb_atom_t property, xcb_atom_t type,
                 std::shared_ptr<const std::string> text);
    void send_targets(const Owned& owned, xcb_window_t requestor, xcb_atom_t property);
    void on_property(const xcb_property_notify_event_t& notify);
    void end_transfer(std::list<Transfer>::iterator transfer);
    void fetched(xcb_atom_t selection, xcb_window_t requestor) const;

    EventLoop& loop_;
    XConnection& x_;
    std::size_t piece_bytes_;
    std::map<xcb_atom_t, Owned> owned_;
    std::list<Transfer> transfers_;
    std::function<void(const Fetch&)> on_fetched_;
};

// UTF-8 to Latin-1; empty optional when a character has no place there.
std::optional<std::string> to_latin1(std::string_view utf8);
std::string from_latin1(std::string_view latin1);

}  // namespace dormouse::agent

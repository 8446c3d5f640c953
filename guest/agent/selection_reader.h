// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>

#include "guest/agent/x_connection.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/task.h"

namespace dormouse::agent {

// Asks the owners of X selections for their text. The owner is an application,
// perhaps a hostile one: texts beyond guest::kMaxText are refused, and after
// kReadTimeout it has had its chance.
//
// For one connection, which must outlive it. The loop's thread. Destroying it
// fails what is pending with Errc::Unavailable.
class SelectionReader {
  public:
    using Text = Result<std::string>;

    SelectionReader(EventLoop& loop, XConnection& connection) : loop_(loop), x_(connection) {}
    ~SelectionReader();
    SelectionReader(const SelectionReader&) = delete;
    SelectionReader& operator=(const SelectionReader&) = delete;

    // UTF-8 as the owner sends it. Errc::NotFound: nobody owns it or it is not a
    // text; Timeout; TooLarge; Unavailable: too many at once. The task needs
    // neither the reader nor the connection to live on.
    Task<Text> read(xcb_atom_t selection);

    // The bytes of one target, of any type, and no other target instead. Errors as above.
    Task<Text> read_as(xcb_atom_t selection, xcb_atom_t target);

    void on_event(const xcb_generic_event_t& event);

  private:
    struct Slot {
        Completion<Text> done;
        xcb_atom_t selection;
        xcb_atom_t target;
        EventLoop::TimerId timer;
        bool in_pieces = false;
        bool latin1 = false;
        bool any_type = false;  // of read_as()
        std::string text;
    };

    Task<Text> start(xcb_atom_t selection, xcb_atom_t target, bool any_type);
    void convert(std::size_t index);
    void on_notify(const xcb_selection_notify_event_t& notify);
    void take_property(std::size_t index);
    void finish(std::size_t index, Text text);

    EventLoop& loop_;
    XConnection& x_;
    std::array<std::optional<Slot>, kTransferAtoms> slots_;
};

}  // namespace dormouse::agent

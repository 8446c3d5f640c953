// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "display/bus.h"
#include "display/framebuffer.h"

namespace dormouse::display {

// Serves org.qemu.Display1.Listener on one bus connection: QEMU's calls become
// changes of the framebuffer. Calls with wrong arguments are answered with an
// error and change nothing.
//
// The optional interface Listener.Unix.Map (shared memory) is not offered: QEMU
// 7.2 does not have it, and a mapping that the other side can truncate would
// let a broken QEMU kill the daemon with SIGBUS.
//
// Lives on the frame thread; must be stopped before its bus goes.
class DbusListener {
  public:
    // `on_picture` is called after each whole picture or Disable, `on_change`
    // after each change.
    struct Callbacks {
        std::function<void()> on_picture;
        std::function<void()> on_change;
    };
    DbusListener(Framebuffer& framebuffer, Callbacks callbacks);
    DbusListener(const DbusListener&) = delete;
    DbusListener& operator=(const DbusListener&) = delete;

    Result<> serve(sd_bus* bus);
    void stop() { slot_.reset(); }

  private:
    struct Method;
    static const Method kMethods[];
    static int on_call(sd_bus_message* message, void* self, sd_bus_error* error);
    int dispatch(sd_bus_message* message);
    int get_property(sd_bus_message* message);
    int get_all_properties(sd_bus_message* message);

    Result<> scanout(sd_bus_message* message);
    Result<> update(sd_bus_message* message);
    Result<> disable(sd_bus_message* message);
    Result<> mouse_set(sd_bus_message* message);
    Result<> cursor_define(sd_bus_message* message);
    Result<> ignore(sd_bus_message* message);

    Framebuffer& framebuffer_;
    Callbacks callbacks_;
    bool told_refusal_ = false;
    BusSlot slot_;
};

}  // namespace dormouse::display

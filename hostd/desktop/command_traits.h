// SPDX-License-Identifier: Apache-2.0
// What every command of the closed list says about itself.
#pragma once

#include <string>
#include <string_view>

#include "hostd/desktop/state.h"

namespace dormouse::desktop {

// How a caller names a desktop: by id or by name.
using DesktopReference = std::string;

// What a token may be limited to; see rights.h for who may do what.
enum class CommandGroup {
    Look,       // lists, pictures, events: nothing is changed
    Act,        // mouse, keyboard
    Exec,       // programs inside
    Create,     // new desktops
    Lifecycle,  // start, stop, restart, rename, label
    Delete,     // desktops
    Network,    // what a desktop may reach
    Templates,  // building and removing them
    Admin,      // tokens, the audit log: for scope admin alone
};

// Each command is a struct with a `static constexpr CommandTraits traits`; so a
// new one is a struct, a line in the variant of commands.h, and the function of
// Service that carries it out. What is missing does not compile.
struct CommandTraits {
    std::string_view name;  // "desktop.create": in the audit log, in messages
    CommandGroup group = CommandGroup::Look;
    // The states of the desktop that it names in which it is carried out; in the
    // others it is Errc::Conflict. Null: in all.
    bool (*legal)(State state) = nullptr;
};

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "hostd/base/result.h"

namespace dormouse::desktop {

// A desktop's life. Creating -> Running <-> Stopped by Starting and Stopping;
// each of them may end in Failed, from where it may start again; all may go
// to Deleting, after which there is nothing.
enum class State { Creating, Running, Starting, Stopping, Stopped, Failed, Deleting };

std::string_view state_name(State state);  // "running"
Result<State> parse_state(std::string_view name);
bool may_move(State from, State to);

// The states in which a command is carried out. Starting and stopping are also
// legal where they change nothing, so that a caller may say what it wants
// without looking first.
bool may_start(State state);
bool may_stop(State state);
bool may_restart(State state);
bool may_delete(State state);
bool is_running(State state);
// Pictures come from the host's copy of the screen, which is there as soon as
// QEMU is: one can watch a desktop boot.
bool has_screen(State state);

// What a token is for: a viewer only looks; an agent uses desktops; an admin may
// do everything.
enum class Scope { Viewer, Agent, Admin };

std::string_view scope_name(Scope scope);  // "agent"
Result<Scope> parse_scope(std::string_view name);

}  // namespace dormouse::desktop

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

// What a token is for. Admin includes all that Agent may.
enum class Scope { Agent, Admin };

std::string_view scope_name(Scope scope);  // "agent"
Result<Scope> parse_scope(std::string_view name);

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/state.h"

namespace dormouse::desktop {

std::string_view state_name(State state) {
    switch (state) {
        case State::Creating:
            return "creating";
        case State::Running:
            return "running";
        case State::Starting:
            return "starting";
        case State::Stopping:
            return "stopping";
        case State::Stopped:
            return "stopped";
        case State::Failed:
            return "failed";
        case State::Deleting:
            return "deleting";
    }
    return "failed";
}

Result<State> parse_state(std::string_view name) {
    for (const auto state : {State::Creating, State::Running, State::Starting, State::Stopping,
                             State::Stopped, State::Failed, State::Deleting})
        if (state_name(state) == name) return state;
    return fail(Errc::Corrupt, fmt::format("'{}' is not a state of a desktop", name));
}

bool may_move(State from, State to) {
    if (to == State::Deleting) return from != State::Deleting;
    switch (from) {
        case State::Creating:
            return to == State::Running || to == State::Failed;
        case State::Running:
            return to == State::Stopping || to == State::Stopped || to == State::Failed;
        case State::Starting:
            return to == State::Running || to == State::Stopping || to == State::Stopped ||
                   to == State::Failed;
        case State::Stopping:
            return to == State::Stopped || to == State::Starting || to == State::Failed;
        case State::Stopped:
        case State::Failed:
            return to == State::Starting;
        case State::Deleting:
            return false;
    }
    return false;
}

bool may_start(State state) {
    switch (state) {
        case State::Running:
        case State::Starting:
        case State::Stopped:
        case State::Failed:
            return true;
        case State::Creating:
        case State::Stopping:
        case State::Deleting:
            return false;
    }
    return false;
}

// One that has failed has no machine: it is as stopped as can be. One that is
// being created is not there yet; who does not want it any more deletes it.
bool may_stop(State state) {
    switch (state) {
        case State::Running:
        case State::Starting:
        case State::Stopping:
        case State::Stopped:
        case State::Failed:
            return true;
        case State::Creating:
        case State::Deleting:
            return false;
    }
    return false;
}

bool may_restart(State state) {
    switch (state) {
        case State::Running:
        case State::Stopped:
        case State::Failed:
            return true;
        case State::Creating:
        case State::Starting:
        case State::Stopping:
        case State::Deleting:
            return false;
    }
    return false;
}

bool may_delete(State state) {
    return state != State::Deleting;
}

bool is_running(State state) {
    return state == State::Running;
}

bool has_screen(State state) {
    switch (state) {
        case State::Running:
        case State::Starting:
        case State::Stopping:
            return true;
        case State::Creating:
        case State::Stopped:
        case State::Failed:
        case State::Deleting:
            return false;
    }
    return false;
}

std::string_view scope_name(Scope scope) {
    switch (scope) {
        case Scope::Viewer:
            return "viewer";
        case Scope::Agent:
            return "agent";
        case Scope::Admin:
            return "admin";
    }
    return "agent";
}

Result<Scope> parse_scope(std::string_view name) {
    for (const auto scope : {Scope::Viewer, Scope::Agent, Scope::Admin})
        if (scope_name(scope) == name) return scope;
    return fail(Errc::InvalidArgument, fmt::format("'{}' is not a scope", name),
                "scopes: viewer, agent, admin");
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/commands.h"

namespace dormouse::desktop {

const CommandTraits& traits_of(const Command& command) {
    return std::visit([](const auto& one) -> const CommandTraits& { return one.traits; }, command);
}

std::string_view command_name(const Command& command) {
    return traits_of(command).name;
}

bool allowed(const Command& command, Scope scope) {
    switch (traits_of(command).group) {
        case CommandGroup::Admin:
        // A recipe's commands run as root while a template is made.
        case CommandGroup::Templates:
            return scope == Scope::Admin;
        case CommandGroup::Look:
        case CommandGroup::Act:
        case CommandGroup::Exec:
        case CommandGroup::Create:
        case CommandGroup::Lifecycle:
        case CommandGroup::Delete:
        case CommandGroup::Network:
            return true;
    }
    return false;
}

bool legal(const Command& command, State state) {
    const auto& traits = traits_of(command);
    return !traits.legal || traits.legal(state);
}

}  // namespace dormouse::desktop

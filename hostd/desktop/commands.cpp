// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/commands.h"

namespace dormouse::desktop {

const CommandTraits& traits_of(const Command& command) {
    return std::visit([](const auto& one) -> const CommandTraits& { return one.traits; }, command);
}

std::string_view command_name(const Command& command) {
    return traits_of(command).name;
}

bool allowed(const Command& command, Scope scope, const TokenLimits& limits) {
    const auto group = traits_of(command).group;
    const auto* update = std::get_if<UpdateDesktop>(&command);
    if (!update || !update->network) return allows(scope, limits, group);
    const bool only_network = !update->name && update->labels.empty();
    return allows(scope, limits, CommandGroup::Network) && (only_network || allows(scope, limits, group));
}

bool legal(const Command& command, State state) {
    const auto& traits = traits_of(command);
    return !traits.legal || traits.legal(state);
}

}  // namespace dormouse::desktop

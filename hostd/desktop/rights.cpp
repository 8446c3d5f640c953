// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/rights.h"

#include <algorithm>

namespace dormouse::desktop {

namespace {

constexpr CommandGroup kGroups[] = {CommandGroup::Look,    CommandGroup::Act,       CommandGroup::Exec,
                                    CommandGroup::Create,  CommandGroup::Lifecycle, CommandGroup::Delete,
                                    CommandGroup::Network, CommandGroup::Templates, CommandGroup::Admin};

}  // namespace

std::string_view group_name(CommandGroup group) {
    switch (group) {
        case CommandGroup::Look:
            return "look";
        case CommandGroup::Act:
            return "act";
        case CommandGroup::Exec:
            return "exec";
        case CommandGroup::Create:
            return "create";
        case CommandGroup::Lifecycle:
            return "lifecycle";
        case CommandGroup::Delete:
            return "delete";
        case CommandGroup::Network:
            return "network";
        case CommandGroup::Templates:
            return "templates";
        case CommandGroup::Admin:
            return "admin";
    }
    return "admin";
}

Result<CommandGroup> parse_group(std::string_view name) {
    for (const auto group : kGroups)
        if (group != CommandGroup::Admin && group_name(group) == name) return group;
    return fail(Errc::InvalidArgument, fmt::format("'{}' is not a group of commands", name),
                "groups: look, act, exec, create, lifecycle, delete, network, templates");
}

Result<> check_limits(Scope scope, const TokenLimits& limits) {
    if (!limits.desktops.empty() && limits.label)
        return fail(Errc::InvalidArgument, "a token is limited to desktops or to a label, not to both",
                    "leave one of them out");
    if (limits.label && !limits.label->value)
        return fail(Errc::InvalidArgument, "label: a token's label needs a value", "write key=value");
    const bool limited = limits.desktops_limited() || !limits.groups.empty();
    if (scope == Scope::Admin && limited)
        return fail(Errc::InvalidArgument, "a token of scope 'admin' cannot be limited",
                    "make one of scope 'agent' or 'viewer'");
    if (scope == Scope::Viewer)
        for (const auto group : limits.groups)
            if (group != CommandGroup::Look)
                return fail(Errc::InvalidArgument,
                            fmt::format("a token of scope 'viewer' only looks; '{}' is not for it",
                                        group_name(group)),
                            "make one of scope 'agent'");
    if (limits.groups.contains(CommandGroup::Admin))
        return fail(Errc::InvalidArgument, "what is for admins cannot be given to others");
    if (limits.desktops_limited() && limits.groups.contains(CommandGroup::Templates))
        return fail(Errc::InvalidArgument, "templates are not a matter of single desktops",
                    "make a token of its own for them");
    return {};
}

bool allows(Scope scope, const TokenLimits& limits, CommandGroup group) {
    if (scope == Scope::Admin) return true;
    if (group == CommandGroup::Admin) return false;
    if (scope == Scope::Viewer) return group == CommandGroup::Look;
    if (limits.groups.empty()) return group != CommandGroup::Templates;
    return limits.groups.contains(group);
}

bool sees(const TokenLimits& limits, std::string_view id, std::string_view name, const Labels& labels) {
    if (limits.label) return fits(labels, *limits.label);
    if (limits.desktops.empty()) return true;
    return std::any_of(limits.desktops.begin(), limits.desktops.end(),
                       [&](const std::string& one) { return one == id || one == name; });
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// Who may do what, and who sees which desktop.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/labels.h"
#include "hostd/base/result.h"
#include "hostd/desktop/command_traits.h"

namespace dormouse::desktop {

std::string_view group_name(CommandGroup group);  // "look"
Result<CommandGroup> parse_group(std::string_view name);

// What a token is limited to, within its scope. At most one of desktops and
// label is set: what is not in it is not there for the token.
struct TokenLimits {
    std::vector<std::string> desktops;  // ids or names; empty: all
    std::optional<LabelFilter> label;   // with its value
    std::set<CommandGroup> groups;      // empty: all that the scope has

    bool desktops_limited() const { return !desktops.empty() || label; }
    friend bool operator==(const TokenLimits&, const TokenLimits&) = default;
};

// What is wrong with making such a token: an admin has no limits, a viewer does
// not act, one of agent does not get what is for admins.
Result<> check_limits(Scope scope, const TokenLimits& limits);

// Whether a token of this scope with these limits may use commands of `group`.
// Building templates runs a recipe's commands on the host: beyond admins it is
// only for tokens that name the group.
bool allows(Scope scope, const TokenLimits& limits, CommandGroup group);

// Whether a desktop with these names and labels is there for such a token.
bool sees(const TokenLimits& limits, std::string_view id, std::string_view name, const Labels& labels);

}  // namespace dormouse::desktop

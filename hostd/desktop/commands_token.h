// SPDX-License-Identifier: Apache-2.0
// Who may use this server.
#pragma once

#include <optional>
#include <string>

#include "hostd/base/clock.h"
#include "hostd/base/id.h"
#include "hostd/desktop/command_traits.h"
#include "hostd/desktop/rights.h"

namespace dormouse::desktop {

struct CreateToken {
    static constexpr CommandTraits traits{"token.create", CommandGroup::Admin};
    std::string name;
    Scope scope = Scope::Agent;
    TokenLimits limits{};
    std::optional<WallTime> expires_at{};
};
struct ListTokens {
    static constexpr CommandTraits traits{"token.list", CommandGroup::Admin};
};
struct DeleteToken {
    static constexpr CommandTraits traits{"token.delete", CommandGroup::Admin};
    TokenId token;
};

// ---- the answers

struct TokenInfo {
    TokenId id;
    std::string name;
    Scope scope = Scope::Agent;
    WallTime created_at;
    std::optional<WallTime> last_used_at;
    TokenLimits limits{};
    std::optional<WallTime> expires_at{};
};
struct NewToken {
    TokenInfo info;
    std::string secret;  // shown this once
};

}  // namespace dormouse::desktop

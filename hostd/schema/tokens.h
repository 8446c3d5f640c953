// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/secret.h"
#include "hostd/schema/codec.h"

namespace dormouse::schema {

constexpr std::size_t kLongestTokenName = 100;  // bytes

// What a token is limited to, within its scope.
struct TokenLimits {
    std::vector<std::string> desktops;  // ids or names; empty: all
    std::optional<std::string> label;   // "key=value"; not together with desktops
    std::vector<std::string> commands;  // groups of commands; empty: all that the scope has
    friend bool operator==(const TokenLimits&, const TokenLimits&) = default;
};

struct Token {
    std::string id;
    std::string name;
    std::string scope;   // "admin", "agent" or "viewer"
    TokenLimits limits;  // its fields stand beside the others in JSON
    WallTime created_at;
    std::optional<WallTime> last_used_at;
    std::optional<WallTime> expires_at;
    friend bool operator==(const Token&, const Token&) = default;
};

struct TokenList {
    std::vector<Token> tokens;
};

struct CreateTokenRequest {
    std::string name;   // what people call it: any text of 1 to kLongestTokenName bytes on one line
    std::string scope;  // "admin", "agent" or "viewer"
    TokenLimits limits{};
    std::optional<WallTime> expires_at{};
};

// The answer to making a token: a Token with "secret" beside the other fields.
struct NewToken {
    Token token;
    Secret secret;  // shown this once
};

std::string to_json(const Token& token);
std::string to_json(const TokenList& list);
std::string to_json(const CreateTokenRequest& request);
std::string to_json(const NewToken& token);

template <>
Result<Token> parse<Token>(std::string_view text);
template <>
Result<TokenList> parse<TokenList>(std::string_view text);
template <>
Result<CreateTokenRequest> parse<CreateTokenRequest>(std::string_view text);
template <>
Result<NewToken> parse<NewToken>(std::string_view text);

}  // namespace dormouse::schema

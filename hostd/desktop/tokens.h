// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "db/token_store.h"
#include "hostd/base/clock.h"
#include "hostd/base/result.h"
#include "hostd/base/secret.h"
#include "hostd/desktop/commands.h"

namespace dormouse::desktop {

// A new secret: "dm_" and 43 characters of base64url, 256 bits from the kernel.
Secret make_token_secret();

// What is stored in its place. BLAKE2b without salt or stretching: the secrets
// are random and long, there is nothing to guess.
std::string hash_token_secret(std::string_view secret);

// A row for a new token with that secret.
db::TokenRow make_token_row(const std::string& name, Scope scope, const Secret& secret, WallTime now);

// How limits are kept in a row.
void limits_to_row(const TokenLimits& limits, db::TokenRow& row);
Result<TokenLimits> limits_of_row(const db::TokenRow& row);  // Errc::Corrupt for what we did not write

// Sees to it that `file` (mode 0600) holds the secret of an admin token that the
// store knows; makes both when not. On the store thread.
Result<> ensure_admin_token(db::TokenStore& tokens, const std::filesystem::path& file, WallTime now);

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "hostd/base/result.h"
#include "hostd/base/secret.h"

namespace dormouse::desktop {

// The key that seals what is kept for the holder of a token: only who sends the
// token again can have it read. The database has neither.
Secret seal_key(std::string_view token_secret);

// BLAKE2b, 32 bytes.
std::string hash_bytes(std::string_view text);

// XSalsa20-Poly1305 under that key, with a nonce of its own in front.
std::string seal(const Secret& key, std::string_view text);
Result<std::string> unseal(const Secret& key, std::string_view sealed);  // Errc::Corrupt

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// Idempotency keys: the header of requests that a client may send again, and
// answers as they are kept for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hostd/base/result.h"
#include "hostd/desktop/gateway.h"
#include "hostd/wsio/http_message.h"

namespace dormouse::api {

inline constexpr std::size_t kLongestOnceKey = 255;

// The key of a request, where it has one: 1 to kLongestOnceKey printable
// characters without spaces. Errc::InvalidArgument for others.
Result<std::optional<desktop::OnceKey>> once_key(const wsio::HttpRequest& request);

// An answer as bytes, and back with "Idempotency-Replayed: true".
std::string pack_answer(const wsio::HttpResponse& response);
Result<wsio::HttpResponse> unpack_answer(std::string_view bytes);  // Errc::Corrupt

}  // namespace dormouse::api

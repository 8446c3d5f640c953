// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hostd/base/result.h"
#include "hostd/schema/codec.h"

namespace dormouse::schema {

// The one HTTP status of each reason.
int http_status(Errc code);

// The reason that a status stands for, for answers whose body says nothing of
// use. Statuses that no reason has: 4xx InvalidArgument, all else Internal.
Errc errc_from_status(int status);

// The inverse of errc_name().
std::optional<Errc> errc_from_name(std::string_view name);

// {"error": {"code", "message", "hint", "action_index"?}}
struct ErrorBody {
    Error error;                      // os_error is not sent
    std::optional<int> action_index;  // which action of a list failed, from 0
};

std::string to_json(const ErrorBody& body);
template <>
Result<ErrorBody> parse<ErrorBody>(std::string_view text);

}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "hostd/base/clock.h"
#include "hostd/base/result.h"

namespace dormouse::schema {

// RFC 3339 in UTC with milliseconds: "2026-11-30T12:53:14.250Z".
std::string format_time(WallTime time);

// Any RFC 3339 time of the years 1678 to 2261, with or without fraction, with
// "Z" or an offset; digits beyond nanoseconds are dropped. A leap second is
// read as the second after it. Errc::InvalidArgument for everything else.
Result<WallTime> parse_time(std::string_view text);

}  // namespace dormouse::schema

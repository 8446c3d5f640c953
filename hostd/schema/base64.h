// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "hostd/base/result.h"

namespace dormouse::schema {

// RFC 4648, section 4: the standard alphabet, with padding.
std::string encode_base64(std::string_view bytes);

// Takes exactly what encode_base64() makes: no line breaks, no missing padding,
// no bits beyond the end. Errc::InvalidArgument otherwise.
Result<std::string> decode_base64(std::string_view text);

}  // namespace dormouse::schema

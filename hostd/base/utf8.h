// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dormouse {

// No overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text);

// Text from outside for one line of a log or an answer: bytes that are no UTF-8
// become U+FFFD, control characters (but tab) a space; cut to `most` bytes, never
// inside a character.
std::string one_line(std::string_view text, std::size_t most);

// Without the beginning of a character at the end.
std::string_view whole_characters(std::string_view text);

}  // namespace dormouse

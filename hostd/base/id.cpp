// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/id.h"

#include <algorithm>

namespace dormouse {

namespace {
bool lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool digit(char c) {
    return c >= '0' && c <= '9';
}
}  // namespace

bool is_identifier(std::string_view text) {
    if (text.empty() || text.size() > 40 || !lower(text.front())) return false;
    return std::all_of(text.begin(), text.end(), [](char c) { return lower(c) || digit(c) || c == '-'; });
}

tl::unexpected<Error> bad_identifier(std::string_view what, std::string_view text) {
    std::string shown{text.substr(0, 60)};
    for (char& c : shown)
        if (c < 0x20 || c == 0x7f) c = '?';
    return fail(Errc::InvalidArgument, fmt::format("'{}' is not a {}", shown, what),
                "use 1 to 40 characters: lower-case letters, digits and '-', beginning with a letter");
}

}  // namespace dormouse

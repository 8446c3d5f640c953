// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/address.h"

#include <fmt/format.h>

#include <charconv>

namespace dormouse::net {

std::string to_text(Address address) {
    const auto value = address.value;
    return fmt::format("{}.{}.{}.{}", value >> 24, value >> 16 & 255, value >> 8 & 255, value & 255);
}

std::optional<Address> parse_address(std::string_view text) {
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    std::uint32_t value = 0;
    for (int part = 0; part < 4; ++part) {
        if (part > 0) {
            if (at == end || *at != '.') return std::nullopt;
            ++at;
        }
        unsigned number = 0;
        const auto parsed = std::from_chars(at, end, number);
        const bool leading_zero = parsed.ptr - at > 1 && *at == '0';
        if (parsed.ec != std::errc{} || number > 255 || leading_zero || parsed.ptr - at > 3)
            return std::nullopt;
        value = value << 8 | number;
        at = parsed.ptr;
    }
    if (at != end) return std::nullopt;
    return Address{value};
}

}  // namespace dormouse::net

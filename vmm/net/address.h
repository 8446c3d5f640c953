// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// IPv4 addresses as values; there is no IPv6 in a desktop.
namespace dormouse::net {

struct Address {
    std::uint32_t value = 0;  // host order: 10.0.2.15 is 0x0a00020f
    friend constexpr auto operator<=>(const Address&, const Address&) = default;
};

constexpr Address address(unsigned a, unsigned b, unsigned c, unsigned d) {
    return Address{a << 24 | b << 16 | c << 8 | d};
}

std::string to_text(Address address);  // "10.0.2.15"
// Four decimal numbers and nothing else: no spaces, no leading zeros, no short forms.
std::optional<Address> parse_address(std::string_view text);

// All addresses that begin with the same `bits` bits.
struct Block {
    Address base;
    int bits = 32;
    constexpr bool contains(Address address) const {
        const std::uint32_t mask = bits == 0 ? 0 : ~std::uint32_t{0} << (32 - bits);
        return (address.value & mask) == (base.value & mask);
    }
};

// Every desktop has a network of its own, and the same one.
constexpr Block kGuestNetwork{address(10, 0, 2, 0), 24};
constexpr Address kGateway = address(10, 0, 2, 2);
constexpr Address kNameServer = address(10, 0, 2, 3);
constexpr Address kGuestAddress = address(10, 0, 2, 15);
constexpr Address kBroadcast = address(255, 255, 255, 255);
constexpr Address kHostLoopback = address(127, 0, 0, 1);

}  // namespace dormouse::net

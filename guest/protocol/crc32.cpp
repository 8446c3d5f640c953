// SPDX-License-Identifier: Apache-2.0
#include "guest/protocol/crc32.h"

#include <array>
#include <cstddef>

namespace dormouse::guest {

namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 4>;

// Four tables let the loop take four bytes a step, about three times as fast
// as one: the receiver pays for each byte a hostile guest sends.
constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0xedb88320u : 0u);
        tables[0][i] = value;
    }
    for (std::size_t i = 0; i < 256; ++i) {
        for (std::size_t t = 1; t < tables.size(); ++t) {
            tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
        }
    }
    return tables;
}

constexpr Tables kTables = make_tables();

std::uint32_t byte_at(std::string_view bytes, std::size_t index) {
    return static_cast<unsigned char>(bytes[index]);
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
    std::uint32_t value = ~before;
    std::size_t i = 0;
    for (; i + 4 <= bytes.size(); i += 4) {
        value ^= byte_at(bytes, i) | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2) << 16 |
                 byte_at(bytes, i + 3) << 24;
        value = kTables[3][value & 0xff] ^ kTables[2][(value >> 8) & 0xff] ^
                kTables[1][(value >> 16) & 0xff] ^ kTables[0][value >> 24];
    }
    for (; i < bytes.size(); ++i) value = (value >> 8) ^ kTables[0][(value ^ byte_at(bytes, i)) & 0xff];
    return ~value;
}

}  // namespace dormouse::guest

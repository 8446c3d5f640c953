// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace dormouse::guest {

// CRC-32 as Ethernet and zip have it (reflected 0x04c11db7). Give the result
// back as `before` to go on over several pieces.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace dormouse::guest

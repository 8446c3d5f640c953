// SPDX-License-Identifier: Apache-2.0
#include "guest/protocol/frame.h"

#include "guest/protocol/crc32.h"
#include "hostd/base/check.h"

namespace dormouse::guest {

std::uint32_t read_u32(std::string_view bytes, std::size_t offset) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i > 0; --i)
        value = value << 8 | static_cast<unsigned char>(bytes[offset + i - 1]);
    return value;
}

void append_u32(std::string& bytes, std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
}

std::string encode_frame(const Frame& frame) {
    DORMOUSE_CHECK(frame.payload.size() <= kMaxPayload);
    std::string bytes;
    bytes.reserve(kHeaderSize + frame.payload.size());
    bytes.append(kMagic.data(), kMagic.size());
    bytes += static_cast<char>(kProtocolVersion);
    bytes += static_cast<char>(frame.type);
    bytes += static_cast<char>(frame.flags & 0xff);
    bytes += static_cast<char>(frame.flags >> 8);
    append_u32(bytes, frame.session);
    append_u32(bytes, frame.stream);
    append_u32(bytes, frame.sequence);
    append_u32(bytes, static_cast<std::uint32_t>(frame.payload.size()));
    append_u32(bytes, crc32(frame.payload, crc32(bytes)));
    bytes += frame.payload;
    return bytes;
}

}  // namespace dormouse::guest

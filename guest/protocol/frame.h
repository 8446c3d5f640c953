// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::guest {

// How bytes between the host and the guest's agent are cut into frames.
//
//   offset size
//        0    4  magic db 44 52 4d (never part of valid UTF-8, so no JSON text holds it)
//        4    1  protocol version, 1
//        5    1  type
//        6    2  flags
//        8    4  session: a fresh random number for each hello, never 0
//       12    4  stream: 0 for the connection itself; the host's are odd, the guest's even
//       16    4  sequence: 0, 1, 2, … in each direction of a session; 0 in Hello and HelloAck.
//                A gap tells that bytes were lost, and so does a repetition
//       20    4  payload length, at most 65,536
//       24    4  CRC-32 over the 24 bytes before and the payload
//       28       payload
//
// All numbers are little-endian. The form is held fast by golden byte files in
// tests/unit/guest/protocol/golden.

enum class FrameType : std::uint8_t {
    Hello = 1,     // host: JSON HostHello, begins a session. Guest: session 0, empty: "say hello again"
    HelloAck = 2,  // guest: JSON HelloInfo
    Open = 3,      // JSON {"method","params"}: begins a stream; long ones in several frames (kFlagMore)
    Data = 4,      // bytes of a stream, within the receiver's window; an empty one ends its direction
    Window = 5,    // u32: so many more bytes of Data may be sent on this stream
    Close = 6,     // JSON {"result"} or {"error":{"code","message"}}: the answer to Open, ends the stream
    Cancel = 7,    // the opener wants no answer any more; ends the stream
    Ping = 8,      // any payload
    Pong = 9,      // the same payload
};

constexpr std::array<char, 4> kMagic{'\xdb', 'D', 'R', 'M'};
constexpr std::uint8_t kProtocolVersion = 1;
constexpr std::size_t kHeaderSize = 28;
constexpr std::size_t kMaxPayload = 64 * 1024;
constexpr std::size_t kMaxFrame = kHeaderSize + kMaxPayload;

// The JSON of an Open or a Close goes on in the next frame of this type and stream.
constexpr std::uint16_t kFlagMore = 1;

struct Frame {
    FrameType type = FrameType::Ping;
    std::uint16_t flags = 0;
    std::uint32_t session = 0;
    std::uint32_t stream = 0;
    std::uint32_t sequence = 0;
    std::string payload;
    friend bool operator==(const Frame&, const Frame&) = default;
};

// Our own mistake (a failed check) when the payload is longer than kMaxPayload.
std::string encode_frame(const Frame& frame);

std::uint32_t read_u32(std::string_view bytes, std::size_t offset);
void append_u32(std::string& bytes, std::uint32_t value);

}  // namespace dormouse::guest

// SPDX-License-Identifier: Apache-2.0
// What a hostile QEMU could say on its VNC connection, decoded by libvncclient
// into a framebuffer: must never crash, hang, or keep more than one screen. The
// first byte says whether a good hand-shake comes before the rest.
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "display/rfb_client.h"

namespace {

using namespace std::string_literals;

// "None" for security, then a screen of 64 by 48 in the server's own colours.
const std::string kHandShake =
    "RFB 003.008\n\x01\x01\0\0\0\0\0\x40\0\x30\x20\x18\0\x01\0\xff\0\xff\0\xff\x10\x08\0\0\0\0\0\0\0\0"s;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dormouse::display;
    if (size == 0) return 0;
    std::string bytes = (data[0] & 1) != 0 ? kHandShake : "";
    bytes.append(reinterpret_cast<const char*>(data + 1), size - 1);

    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return 0;
    dormouse::UniqueFd ours{ends[0]};
    const dormouse::UniqueFd server{ends[1]};
    // More than the socket holds is of no use: nobody reads while we write.
    const auto sent = ::send(server.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent != static_cast<ssize_t>(bytes.size())) return 0;
    ::shutdown(server.get(), SHUT_WR);  // what the client says is kept, and read by nobody

    const dormouse::ManualClock clock;
    Framebuffer framebuffer{clock};
    RfbClient client{framebuffer};
    if (!client.connect(std::move(ours))) return 0;
    while (client.handle_message()) {
    }
    (void)framebuffer.cursor();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>

#include "hostd/base/check.h"

namespace dormouse {

std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    std::size_t have = 0;
    while (have < count) {
        const auto got = ::getrandom(bytes.data() + have, count - have, 0);
        DORMOUSE_CHECK(got > 0 || errno == EINTR);
        if (got > 0) have += static_cast<std::size_t>(got);
    }
    return bytes;
}

std::string random_hex(std::size_t bytes) {
    std::string text;
    for (const char c : random_bytes(bytes)) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return text;
}

std::string random_uuid() {
    auto text = random_hex(16);
    text[12] = '4';
    text[16] = "89ab"[text[16] & 3];
    for (const std::size_t dash : {20, 16, 12, 8}) text.insert(dash, 1, '-');
    return text;
}

}  // namespace dormouse

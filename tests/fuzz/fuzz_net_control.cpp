// SPDX-License-Identifier: Apache-2.0
// Lines between the daemon and a network process, and its configuration. What is
// taken can be written, and is taken again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "vmm/net/control_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dormouse::net;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto again = [](const std::string& first, const std::string& second) {
        if (first != second) std::abort();
    };
    if (const auto message = parse_to_netd(text))
        again(to_line(*message), to_line(parse_to_netd(to_line(*message)).value()));
    if (const auto message = parse_from_netd(text))
        again(to_line(*message), to_line(parse_from_netd(to_line(*message)).value()));
    if (const auto config = parse_netd_config(text))
        again(to_json(*config), to_json(parse_netd_config(to_json(*config)).value()));
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// What a desktop may reach, and what it has reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/desktop/command_traits.h"

namespace dormouse::desktop {

struct ListDestinations {
    static constexpr CommandTraits traits{"desktop.destinations", CommandGroup::Look};
    DesktopReference desktop;
};

// ---- the answers

// What a desktop has reached or tried to, added up over its life.
struct DestinationInfo {
    std::optional<std::string> name;     // absent when the desktop used the address
    std::optional<std::string> address;  // absent when the name was refused
    int port = 0;
    std::string protocol;  // "tcp", "udp", "icmp" or "dns"
    std::string verdict;   // "allowed" or "refused"
    std::string reason;
    WallTime first_at;
    WallTime last_at;
    std::int64_t connections = 0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
};

}  // namespace dormouse::desktop

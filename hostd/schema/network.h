// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/schema/codec.h"
#include "hostd/schema/json.h"
#include "hostd/schema/reader.h"

namespace dormouse::schema {

// A desktop's network, in a desktop and in the requests that make or change one.
struct Network {
    std::string mode = "open";  // "open" or "none"
    friend bool operator==(const Network&, const Network&) = default;
};

// What a desktop has reached, or tried to.
struct DestinationEntry {
    std::optional<std::string> name;     // absent when the desktop used the address
    std::optional<std::string> address;  // absent when the name was refused
    int port = 0;
    std::string protocol;  // "tcp", "udp", "icmp" or "dns"
    std::string verdict;   // "allowed" or "refused"
    std::string reason;    // "" where there is nothing to say
    WallTime first_at;
    WallTime last_at;
    std::int64_t connections = 0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
    friend bool operator==(const DestinationEntry&, const DestinationEntry&) = default;
};

struct DestinationList {
    std::vector<DestinationEntry> destinations;
};

std::string to_json(const DestinationList& list);
template <>
Result<DestinationList> parse<DestinationList>(std::string_view text);

// For the codecs of what has a network.
Json encode(const Network& network);
Network decode_network(ObjectReader& in);  // `in` reads the network's own object

}  // namespace dormouse::schema

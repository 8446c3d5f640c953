// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hostd/base/result.h"
#include "vmm/net/destination_log.h"
#include "vmm/net/policy.h"

// What dormouse-netd is told at its start, and what it and the daemon say to
// each other afterwards: JSON, one object a line. Neither side trusts the other's
// words further than their form.
namespace dormouse::net {

constexpr std::size_t kLongestControlLine = 512 << 10;

// What netd reads from its standard input when it starts.
struct NetdConfig {
    std::string id;                    // of the desktop, for the log
    std::filesystem::path run_folder;  // where the sockets are
    PolicySettings policy;
    std::string dns;  // "127.0.0.1:5353"; empty: as the host does
};
std::string to_json(const NetdConfig& config);
Result<NetdConfig> parse_netd_config(std::string_view text);

// From the daemon.
struct SetPolicy {
    PolicySettings policy;
};
struct Flush {  // report all there is; once it is acknowledged, say Flushed with the same number
    std::int64_t number = 0;
};
struct Acknowledge {
    std::int64_t sequence = 0;
};
using ToNetd = std::variant<SetPolicy, Flush, Acknowledge>;
std::string to_line(const ToNetd& message);  // with its line feed
Result<ToNetd> parse_to_netd(std::string_view line);

// From netd.
struct PolicySet {
    Mode mode = Mode::None;
    std::int64_t ended = 0;  // connections that were cut off
};
struct Flushed {
    std::int64_t number = 0;
};
using FromNetd = std::variant<PolicySet, Flushed, Report>;
std::string to_line(const FromNetd& message);
Result<FromNetd> parse_from_netd(std::string_view line);

}  // namespace dormouse::net

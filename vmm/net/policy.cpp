// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace dormouse::net {

namespace {

constexpr std::uint16_t kMailPort = 25;

struct Refused {
    Block block;
    std::string_view reason;
};

// The blocks for documentation (192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24)
// are not among them: nothing private is there, and some sites put mirrors there.
constexpr std::array<Refused, 13> kRefused{{
    {kGuestNetwork, "the desktop's own network"},
    {{address(0, 0, 0, 0), 8}, "no address of the internet (0.0.0.0/8)"},
    {{address(10, 0, 0, 0), 8}, "a private network (10.0.0.0/8)"},
    {{address(100, 64, 0, 0), 10}, "a private network (100.64.0.0/10)"},
    {{address(127, 0, 0, 0), 8}, "loopback (127.0.0.0/8)"},
    {{address(169, 254, 0, 0), 16}, "link-local, as cloud metadata is (169.254.0.0/16)"},
    {{address(172, 16, 0, 0), 12}, "a private network (172.16.0.0/12)"},
    {{address(192, 0, 0, 0), 24}, "no address of the internet (192.0.0.0/24)"},
    {{address(192, 168, 0, 0), 16}, "a private network (192.168.0.0/16)"},
    {{address(198, 18, 0, 0), 15}, "a private network (198.18.0.0/15)"},
    {{address(224, 0, 0, 0), 4}, "multicast (224.0.0.0/4)"},
    {{kBroadcast, 32}, "broadcast"},
    {{address(240, 0, 0, 0), 4}, "no address of the internet (240.0.0.0/4)"},
}};

constexpr std::string_view kModeIsNone = "the desktop's network is switched off";
constexpr std::string_view kByException = "allowed by the administrator";

}  // namespace

std::string_view mode_name(Mode mode) {
    switch (mode) {
        case Mode::Open:
            return "open";
        case Mode::None:
            return "none";
    }
    return "none";
}

Result<Mode> parse_mode(std::string_view name) {
    for (const auto mode : {Mode::Open, Mode::None})
        if (name == mode_name(mode)) return mode;
    return fail(Errc::InvalidArgument, fmt::format("'{}' is not a mode of a desktop's network", name),
                "the modes are open (the internet, and nothing of this host) and none");
}

Result<Exception> parse_exception(std::string_view text) {
    const auto bad = [&] {
        return fail(Errc::InvalidArgument, fmt::format("'{}' is not an address and a port", text),
                    "write one IPv4 address and one port, for example 10.1.2.3:8080");
    };
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return bad();
    const auto host = parse_address(text.substr(0, colon));
    unsigned port = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (!host || parsed.ec != std::errc{} || parsed.ptr != end || port == 0 || port > 65535) return bad();
    if (kGuestNetwork.contains(*host))
        return fail(Errc::InvalidArgument,
                    fmt::format("{} is in the network that every desktop has inside", to_text(*host)),
                    "for a service on this host write 127.0.0.1:PORT; a desktop reaches it at 10.0.2.2:PORT");
    return Exception{*host, static_cast<std::uint16_t>(port)};
}

Result<std::vector<Exception>> parse_exceptions(const std::vector<std::string>& texts) {
    std::vector<Exception> all;
    for (const auto& text : texts) {
        DORMOUSE_TRY_ASSIGN(const auto one, parse_exception(text));
        all.push_back(one);
    }
    return all;
}

std::string to_text(const Exception& exception) {
    return fmt::format("{}:{}", to_text(exception.address), exception.port);
}

Policy::Policy(PolicySettings settings, std::set<Address> own)
    : settings_(std::move(settings)),
      exceptions_(settings_.allow.begin(), settings_.allow.end()),
      own_(std::move(own)) {}

bool Policy::has_exception(Address address, std::uint16_t port) const {
    return exceptions_.count({address, port}) > 0;
}

std::string_view Policy::never_reason(Address address) const {
    for (const auto& [block, reason] : kRefused)
        if (block.contains(address)) return reason;
    if (own_.count(address) > 0) return "an address of this host";
    return {};
}

Decision Policy::decide(const Destination& destination) const {
    const auto to = destination.address;
    if (settings_.mode == Mode::None) return {false, kModeIsNone, to};
    if (to == kGateway && has_exception(kHostLoopback, destination.port))
        return {true, kByException, kHostLoopback};
    if (to == kGateway) return {false, "this host", to};
    // Loopback is the desktop's own, whatever the exceptions say.
    if (to != kHostLoopback && has_exception(to, destination.port)) return {true, kByException, to};
    if (const auto reason = never_reason(to); !reason.empty()) return {false, reason, to};
    if (destination.port == kMailPort) return {false, "mail between servers (port 25)", to};
    return {true, {}, to};
}

Decision Policy::may_tell(Address address) const {
    if (settings_.mode == Mode::None) return {false, kModeIsNone, address};
    const bool exempt =
        address != kHostLoopback && std::any_of(exceptions_.begin(), exceptions_.end(),
                                                [&](const auto& one) { return one.address == address; });
    if (exempt) return {true, kByException, address};
    if (const auto reason = never_reason(address); !reason.empty()) return {false, reason, address};
    return {true, {}, address};
}

}  // namespace dormouse::net

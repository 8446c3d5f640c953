// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vmm/net/address.h"

// DNS messages, as far as a desktop's name server needs them: one question in,
// addresses out. Plain values.
namespace dormouse::net {

namespace dns_type {
constexpr std::uint16_t kA = 1;
constexpr std::uint16_t kNull = 10;
constexpr std::uint16_t kPtr = 12;
constexpr std::uint16_t kTxt = 16;
constexpr std::uint16_t kAaaa = 28;
constexpr std::uint16_t kOpt = 41;
constexpr std::uint16_t kAny = 255;
}  // namespace dns_type

enum class DnsStatus : std::uint8_t {
    Good = 0,
    BadForm = 1,
    ServerFailure = 2,
    NoSuchName = 3,
    NotImplemented = 4,
    Refused = 5,
};

constexpr std::size_t kLeastDnsAnswer = 512;  // what every client takes
constexpr std::size_t kMostDnsAnswer = 1232;  // what never makes fragments

struct DnsQuery {
    std::uint16_t id = 0;
    bool recursion_desired = false;
    // Lower case, without the final dot; "" is the root. Only letters, digits,
    // hyphens and underscores: `plain_name` is false for any other.
    std::string name;
    bool plain_name = true;
    std::uint16_t type = 0;
    std::uint16_t name_class = 1;  // 1 is the internet
    bool extended = false;         // EDNS
    std::size_t most = kLeastDnsAnswer;
    std::string question;  // its bytes, which the answer repeats
};

struct ReadDnsQuery {
    std::optional<DnsQuery> query;
    std::optional<std::string> refusal;  // the answer to what is a query but a wrong one
};
// Neither is set for what deserves no answer at all: answers, and less than a header.
ReadDnsQuery read_dns_query(std::string_view message);

struct DnsAnswer {
    DnsStatus status = DnsStatus::Good;
    std::vector<Address> addresses;  // as many as there is room for go out
    std::chrono::seconds lifetime{0};
};
std::string make_dns_answer(const DnsQuery& query, const DnsAnswer& answer);

// Whether `name` (as in DnsQuery) may be resolved: a host name of at least one
// label that is not a number in disguise.
bool is_host_name(std::string_view name);

}  // namespace dormouse::net

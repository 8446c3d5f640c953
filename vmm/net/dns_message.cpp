// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/dns_message.h"

#include <algorithm>

namespace dormouse::net {

namespace {

constexpr std::size_t kHeader = 12;
constexpr std::size_t kLongestName = 253;  // as text
constexpr std::size_t kOptRecord = 11;
constexpr std::size_t kAddressRecord = 16;

constexpr std::uint16_t kIsAnswer = 0x8000;
constexpr std::uint16_t kOpcode = 0x7800;
constexpr std::uint16_t kRecursionDesired = 0x0100;
constexpr std::uint16_t kRecursionAvailable = 0x0080;

std::uint16_t get_16(std::string_view text, std::size_t at) {
    return static_cast<std::uint16_t>(static_cast<unsigned char>(text[at]) << 8 |
                                      static_cast<unsigned char>(text[at + 1]));
}
void put_16(std::string& text, std::uint16_t value) {
    text += static_cast<char>(value >> 8);
    text += static_cast<char>(value);
}
void put_32(std::string& text, std::uint32_t value) {
    put_16(text, static_cast<std::uint16_t>(value >> 16));
    put_16(text, static_cast<std::uint16_t>(value));
}

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Reads the name of a question from `at` on; false when it is malformed. A
// question has nothing before it that a pointer could point to.
bool read_name(std::string_view message, std::size_t& at, DnsQuery& query) {
    for (;;) {
        if (at >= message.size()) return false;
        const auto length = static_cast<unsigned char>(message[at++]);
        if (length == 0) return true;
        if (length > 63 || length > message.size() - at) return false;
        if (!query.name.empty()) query.name += '.';
        for (const char c : message.substr(at, length)) {
            const char small = lower(c);
            query.plain_name = query.plain_name && is_plain(small);
            query.name += small;
        }
        at += length;
        if (query.name.size() > kLongestName) return false;
    }
}

bool read_options(std::string_view message, std::size_t& at, DnsQuery& query) {
    if (message.size() - at < kOptRecord || message[at] != 0 || get_16(message, at + 1) != dns_type::kOpt)
        return false;
    query.extended = true;
    query.most = std::clamp<std::size_t>(get_16(message, at + 3), kLeastDnsAnswer, kMostDnsAnswer);
    const std::size_t length = get_16(message, at + 9);
    at += kOptRecord;
    if (length > message.size() - at) return false;
    at += length;
    return true;
}

}  // namespace

ReadDnsQuery read_dns_query(std::string_view message) {
    if (message.size() < kHeader) return {};
    DnsQuery query;
    query.id = get_16(message, 0);
    const auto flags = get_16(message, 2);
    if ((flags & kIsAnswer) != 0) return {};
    query.recursion_desired = (flags & kRecursionDesired) != 0;
    const auto refuse = [&](DnsStatus status) {
        query.question.clear();
        query.extended = false;
        return ReadDnsQuery{{}, make_dns_answer(query, {.status = status, .addresses = {}})};
    };
    if ((flags & kOpcode) != 0) return refuse(DnsStatus::NotImplemented);
    const auto additional = get_16(message, 10);
    if (get_16(message, 4) != 1 || get_16(message, 6) != 0 || get_16(message, 8) != 0 || additional > 1)
        return refuse(DnsStatus::BadForm);
    std::size_t at = kHeader;
    if (!read_name(message, at, query) || message.size() - at < 4) return refuse(DnsStatus::BadForm);
    query.type = get_16(message, at);
    query.name_class = get_16(message, at + 2);
    at += 4;
    query.question = message.substr(kHeader, at - kHeader);
    if (additional == 1 && !read_options(message, at, query)) return refuse(DnsStatus::BadForm);
    if (at != message.size()) return refuse(DnsStatus::BadForm);
    return {std::move(query), {}};
}

std::string make_dns_answer(const DnsQuery& query, const DnsAnswer& answer) {
    const std::size_t fixed = kHeader + query.question.size() + (query.extended ? kOptRecord : 0);
    const auto room = query.most > fixed ? (query.most - fixed) / kAddressRecord : 0;
    const auto count = query.question.empty() ? std::size_t{0} : std::min(answer.addresses.size(), room);
    std::string message;
    put_16(message, query.id);
    put_16(message, static_cast<std::uint16_t>(kIsAnswer | kRecursionAvailable |
                                               (query.recursion_desired ? kRecursionDesired : 0) |
                                               static_cast<std::uint16_t>(answer.status)));
    put_16(message, query.question.empty() ? 0 : 1);
    put_16(message, static_cast<std::uint16_t>(count));
    put_16(message, 0);
    put_16(message, query.extended ? 1 : 0);
    message += query.question;
    for (std::size_t i = 0; i < count; ++i) {
        put_16(message, 0xc000 | kHeader);  // the name of the question
        put_16(message, dns_type::kA);
        put_16(message, 1);
        put_32(message, static_cast<std::uint32_t>(answer.lifetime.count()));
        put_16(message, 4);
        put_32(message, answer.addresses[i].value);
    }
    if (query.extended) {
        message += '\0';
        put_16(message, dns_type::kOpt);
        put_16(message, kMostDnsAnswer);
        put_32(message, 0);
        put_16(message, 0);
    }
    return message;
}

bool is_host_name(std::string_view name) {
    if (name.empty()) return false;
    // A last label of digits, or 0x..., is an address to some resolvers.
    const auto last = name.substr(name.rfind('.') + 1);
    if (last.empty() || (last[0] >= '0' && last[0] <= '9')) return false;
    return name != "localhost" && !name.ends_with(".localhost");
}

}  // namespace dormouse::net

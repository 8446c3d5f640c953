// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/name_server.h"

#include <algorithm>
#include <utility>

namespace dormouse::net {

namespace {

constexpr std::uint16_t kInternet = 1;
constexpr std::uint16_t kDnsPort = 53;
// A name's owner may ask for less, to move it; each look-up costs a round trip.
constexpr std::chrono::seconds kShortestLifetime{5};
constexpr std::chrono::seconds kLongestLifetime{300};
constexpr std::size_t kMostWaiting = 64;  // for one name

// What has no answer here, or must not have one.
std::optional<DnsStatus> status_without_asking(const DnsQuery& query) {
    if (query.name_class != kInternet) return DnsStatus::NotImplemented;
    switch (query.type) {
        case dns_type::kA:
            break;
        case dns_type::kPtr:
            return DnsStatus::NoSuchName;
        case dns_type::kTxt:
        case dns_type::kNull:
        case dns_type::kAny:
            return DnsStatus::Refused;
        default:
            return DnsStatus::Good;  // with no records: the desktop has no IPv6, and needs no others
    }
    if (!query.plain_name || !is_host_name(query.name)) return DnsStatus::NoSuchName;
    return std::nullopt;
}

}  // namespace

NameServer::NameServer(const Clock& clock, Resolver& resolver, NameCache& cache, DestinationLog& log)
    : clock_(clock), resolver_(resolver), cache_(cache), log_(log) {}

void NameServer::handle(std::string_view message, Reply reply) {
    auto read = read_dns_query(message);
    if (read.refusal) return reply(std::move(*read.refusal));
    if (!read.query) return;
    const auto& query = *read.query;
    const auto refuse = [&](DnsStatus status) {
        reply(make_dns_answer(query, {.status = status, .addresses = {}}));
    };
    const bool off = !policy_ || policy_->mode() == Mode::None;
    const bool too_many = !rate_.take(clock_.now());
    if (off || too_many) {
        refused(query.plain_name ? query.name : std::string{},
                off ? "the desktop's network is switched off" : "too many questions for names");
        return refuse(DnsStatus::Refused);
    }
    if (const auto status = status_without_asking(query)) return refuse(*status);
    if (const auto known = cache_.find(query.name)) {
        const auto lifetime = std::chrono::ceil<std::chrono::seconds>(known->lifetime);
        return reply(make_dns_answer(query, allowed_part(query.name, known->addresses, lifetime)));
    }
    resolve(std::move(*read.query), std::move(reply));
}

void NameServer::resolve(DnsQuery query, Reply reply) {
    const auto name = query.name;
    const auto found = waiting_.find(name);
    const bool full =
        found == waiting_.end() ? waiting_.size() >= kMostOpen : found->second.size() >= kMostWaiting;
    if (full) return reply(make_dns_answer(query, {.status = DnsStatus::ServerFailure, .addresses = {}}));
    waiting_[name].push_back({std::move(query), std::move(reply)});
    if (found != waiting_.end()) return;
    resolver_.resolve(name, [this, name](const Resolved& resolved) { on_resolved(name, resolved); });
}

void NameServer::on_resolved(const std::string& name, const Resolved& resolved) {
    DnsAnswer answer;
    switch (resolved.outcome) {
        case Resolved::Outcome::Found: {
            const auto lifetime = std::clamp(resolved.lifetime, kShortestLifetime, kLongestLifetime);
            cache_.remember(name, resolved.addresses, lifetime);
            answer = allowed_part(name, resolved.addresses, lifetime);
            break;
        }
        case Resolved::Outcome::NoSuchName:
            answer.status = DnsStatus::NoSuchName;
            break;
        case Resolved::Outcome::NoAddress:
            break;
        case Resolved::Outcome::Failed:
            answer.status = DnsStatus::ServerFailure;
            break;
    }
    auto node = waiting_.extract(name);
    if (node.empty()) return;
    for (auto& one : node.mapped()) one.reply(make_dns_answer(one.query, answer));
}

DnsAnswer NameServer::allowed_part(const std::string& name, const std::vector<Address>& addresses,
                                   std::chrono::seconds lifetime) {
    DnsAnswer answer{.status = DnsStatus::Good, .addresses = {}, .lifetime = lifetime};
    std::string_view reason;
    for (const auto address : addresses) {
        const auto decision = policy_->may_tell(address);
        if (!decision.allowed) {
            reason = decision.reason;
            continue;
        }
        answer.addresses.push_back(address);
        cache_.told(name, address);
    }
    if (answer.addresses.empty() && !addresses.empty()) {
        refused(name, reason);
        answer.status = DnsStatus::NoSuchName;
    }
    return answer;
}

void NameServer::refused(const std::string& name, std::string_view reason) {
    log_.add({.name = name.empty() ? "(root)" : name,
              .address = {},
              .port = kDnsPort,
              .protocol = Protocol::Dns,
              .allowed = false},
             reason, {.connections = 1});
}

}  // namespace dormouse::net

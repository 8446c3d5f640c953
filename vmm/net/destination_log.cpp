// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/destination_log.h"

#include <array>
#include <utility>

namespace dormouse::net {

namespace {

constexpr std::string_view kOthers = "(others)";

constexpr std::array<std::pair<Protocol, std::string_view>, 4> kProtocols{{
    {Protocol::Tcp, "tcp"},
    {Protocol::Udp, "udp"},
    {Protocol::Icmp, "icmp"},
    {Protocol::Dns, "dns"},
}};

}  // namespace

std::string_view protocol_name(Protocol protocol) {
    for (const auto& [each, name] : kProtocols)
        if (each == protocol) return name;
    return "";
}

std::optional<Protocol> parse_protocol(std::string_view text) {
    for (const auto& [each, name] : kProtocols)
        if (name == text) return each;
    return std::nullopt;
}

DestinationLog::DestinationLog(const Clock& clock, std::string reporter)
    : clock_(clock), reporter_(std::move(reporter)) {}

void DestinationLog::add(const Contact& contact, std::string_view reason, const Counts& counts) {
    // A name is one destination, whichever of its addresses was used.
    Key key{contact.name, contact.name.empty() ? contact.address : Address{}, contact.port, contact.protocol,
            contact.allowed};
    auto found = rows_.find(key);
    auto shown = contact;
    if (found == rows_.end() && rows_.size() >= kMostRows) {
        key.name = kOthers;
        key.address = Address{};
        key.port = 0;
        shown = {key.name, key.address, key.port, contact.protocol, contact.allowed};
        found = rows_.find(key);
    }
    const auto now = clock_.wall();
    if (found == rows_.end()) {
        found = rows_.emplace(key, DestinationRow{}).first;
        found->second.first_at = now;
    }
    auto& row = found->second;
    row.contact = shown;
    row.reason = reason;
    row.last_at = now;
    row.counts.connections += counts.connections;
    row.counts.sent += counts.sent;
    row.counts.received += counts.received;
}

std::optional<Report> DestinationLog::report() {
    if (reported_.empty()) {
        if (rows_.empty()) return std::nullopt;
        ++sequence_;
        while (!rows_.empty() && reported_.size() < kRowsInReport)
            reported_.push_back(std::move(rows_.extract(rows_.begin()).mapped()));
    }
    return Report{reporter_, sequence_, reported_};
}

void DestinationLog::acknowledge(std::int64_t sequence) {
    if (sequence == sequence_) reported_.clear();
}

}  // namespace dormouse::net

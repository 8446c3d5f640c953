// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/clock.h"
#include "vmm/net/address.h"

namespace dormouse::net {

enum class Protocol { Tcp, Udp, Icmp, Dns };
std::string_view protocol_name(Protocol protocol);  // "tcp"
std::optional<Protocol> parse_protocol(std::string_view name);

// What makes one row of the log.
struct Contact {
    std::string name;  // that the desktop asked for; "" when it used the address
    Address address;   // 0.0.0.0 when a name was refused
    std::uint16_t port = 0;
    Protocol protocol = Protocol::Tcp;
    bool allowed = false;
};

struct Counts {
    std::int64_t connections = 0;
    std::int64_t sent = 0;  // bytes, by the desktop
    std::int64_t received = 0;
};

struct DestinationRow {
    Contact contact;
    std::string reason;
    WallTime first_at;
    WallTime last_at;
    Counts counts;
};

struct Report {
    std::string reporter;
    std::int64_t sequence = 0;
    std::vector<DestinationRow> rows;
};

// What the desktop has reached or tried to, added up until somebody takes it.
// Its size is bounded however the guest behaves. One thread.
class DestinationLog {
  public:
    static constexpr std::size_t kMostRows = 4096;  // of more, the rest is counted as one
    static constexpr std::size_t kRowsInReport = 256;

    // `reporter`: a random word, which tells this log from the one of a process before.
    DestinationLog(const Clock& clock, std::string reporter);

    void add(const Contact& contact, std::string_view reason, const Counts& counts);

    // What came up since the last report; the same report again until it is acknowledged.
    std::optional<Report> report();
    void acknowledge(std::int64_t sequence);
    bool full() const { return rows_.size() >= kRowsInReport; }  // more than enough for a report
    bool empty() const { return rows_.empty() && reported_.empty(); }
    const std::string& reporter() const { return reporter_; }

  private:
    struct Key {
        std::string name;
        Address address;
        std::uint16_t port;
        Protocol protocol;
        bool allowed;
        friend auto operator<=>(const Key&, const Key&) = default;
    };

    const Clock& clock_;
    const std::string reporter_;
    std::map<Key, DestinationRow> rows_;
    std::vector<DestinationRow> reported_;  // not acknowledged yet
    std::int64_t sequence_ = 0;
};

}  // namespace dormouse::net

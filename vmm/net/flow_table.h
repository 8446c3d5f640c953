// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>

#include "hostd/base/clock.h"
#include "vmm/net/destination_log.h"
#include "vmm/net/frame.h"

namespace dormouse::net {

// One TCP connection of the desktop, as seen from between it and the stack.
struct Flow {
    std::uint16_t guest_port = 0;
    Address destination;  // as the desktop knows it
    std::uint16_t port = 0;
    Address connect_to;  // differs from `destination` only for the host's loopback

    // Where both are in their sequences: what a reset must say to be believed.
    std::uint32_t guest_acknowledged = 0;  // the next that the guest expects
    std::uint32_t stack_acknowledged = 0;  // the next that the stack expects
    bool guest_finished = false;
    bool stack_finished = false;
    bool answered = false;  // the stack has taken it up
    MonotonicTime last_seen;

    Contact contact;
    Counts uncounted;  // not in the log yet

    bool over() const { return guest_finished && stack_finished; }
};

// All connections of a desktop, bounded. One thread.
class FlowTable {
  public:
    // Connections that are not over; those that are over are kept for a moment,
    // so that their last acknowledgements go through.
    static constexpr std::size_t kMostOpen = 512;
    static constexpr std::size_t kMostOver = 1024;
    static constexpr Duration kOverTime = std::chrono::seconds{10};
    static constexpr Duration kIdleTime = std::chrono::hours{2};
    static constexpr Duration kUnansweredTime = std::chrono::minutes{2};
    static constexpr Duration kMayGiveWay =
        std::chrono::minutes{5};  // idle for so long, when there are too many

    Flow* find(std::uint16_t guest_port, Address destination, std::uint16_t port);
    // Null when there are too many. Whatever had the same ports is replaced.
    Flow* add(Flow flow);
    void remove(const Flow& flow);
    void finished(Flow& flow);  // to be called when it has become over

    std::size_t open() const { return flows_.size() - over_; }
    std::size_t size() const { return flows_.size(); }

    // Those for which `which` says so leave the table; then `end` is called with each.
    std::size_t end_if(const std::function<bool(const Flow&)>& which, const std::function<void(Flow&)>& end);
    void for_each(const std::function<void(Flow&)>& body);

    static bool is_stale(const Flow& flow, MonotonicTime now);

  private:
    using Key = std::uint64_t;
    static Key key_of(std::uint16_t guest_port, Address destination, std::uint16_t port) {
        return std::uint64_t{guest_port} << 48 | std::uint64_t{destination.value} << 16 | port;
    }
    std::map<Key, Flow> flows_;
    std::size_t over_ = 0;
};

}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "hostd/base/clock.h"
#include "vmm/net/destination_log.h"
#include "vmm/net/flow_table.h"
#include "vmm/net/frame.h"
#include "vmm/net/name_cache.h"
#include "vmm/net/policy.h"
#include "vmm/net/rate_limit.h"

namespace dormouse::net {

// Stands between the desktop's card and the stack that makes connections of its
// packets. Only what is listed here passes, everything else ends here:
//
//   ARP for gateway and name server   answered here
//   DHCP                              to the stack, when it is well formed
//   DNS to 10.0.2.3 by UDP            to the name server (over TCP: reset at once)
//   ping of 10.0.2.2                  answered here
//   TCP                               to the stack, when the policy opened the connection
//   anything else                     dropped, or answered so that it fails at once
//
// Nothing is routed: the stack opens a connection to the address that the policy
// was asked about in that same call. One thread.
class Gate {
  public:
    struct Outputs {
        std::function<void(Bytes frame)> to_guest;
        std::function<void(Bytes frame)> to_stack;
        std::function<void(std::string_view message, std::uint16_t guest_port)> to_name_server;
    };
    static constexpr double kConnectRate = 200;  // new connections a second
    static constexpr double kConnectBurst = 600;

    Gate(const Clock& clock, Outputs outputs, const NameCache& names, DestinationLog& log);

    // A frame that the guest has sent; it is changed in place where it must be.
    void from_guest(MutableBytes frame);
    // A frame that the stack has made for the guest.
    void from_stack(MutableBytes frame);
    void answer_name(std::string_view message, std::uint16_t guest_port);

    // Connections that are no longer allowed are reset on both sides. How many.
    std::size_t set_policy(Policy policy);
    const Policy& policy() const { return policy_; }

    void expire();         // to be called every few seconds
    void count_traffic();  // brings the log up to date

    std::size_t open_flows() const { return flows_.open(); }
    std::uint64_t dropped() const { return dropped_; }

  private:
    void arp(Bytes frame, const Packet& packet);
    void tcp(MutableBytes frame, const Packet& packet);
    void tcp_of_flow(MutableBytes frame, const Packet& packet, Flow& flow);
    void open_flow(MutableBytes frame, const Packet& packet);
    void refuse_tcp(const Packet& packet, const Contact& contact, std::string_view reason);
    void udp(Bytes frame, const Packet& packet);
    void icmp(Bytes frame, const Packet& packet);
    void prohibit(Bytes frame, const Packet& packet, Protocol protocol);
    Contact contact_of(const Packet& packet, Protocol protocol) const;
    bool make_room();
    void end_flow(Flow& flow);
    void count(Flow& flow);

    const Clock& clock_;
    const Outputs outputs_;
    const NameCache& names_;
    DestinationLog& log_;
    Policy policy_;
    FlowTable flows_;
    RateLimit connect_rate_{kConnectRate, kConnectBurst};
    std::uint64_t dropped_ = 0;
};

// Whether a UDP payload from port 68 is a DHCP request of the guest's own card
// whose options end where they must.
bool is_dhcp_request(Bytes payload);

}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/gate.h"

#include <algorithm>
#include <utility>

namespace dormouse::net {

namespace {

constexpr std::uint16_t kDnsPort = 53;
constexpr std::uint16_t kDhcpServerPort = 67;
constexpr std::uint16_t kDhcpClientPort = 68;
constexpr std::uint8_t kEchoRequest = 8;
constexpr std::uint32_t kDhcpCookie = 0x63825363;
constexpr std::size_t kDhcpOptionsAt = 240;

bool is_ours(const Mac& mac) {
    return mac == kGatewayMac || mac == kNameServerMac || mac == kEverybodyMac;
}

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool is_dhcp_request(Bytes payload) {
    if (payload.size() <= kDhcpOptionsAt) return false;
    const bool request = payload[0] == 1 && payload[1] == 1 && payload[2] == 6;
    const bool own_card = std::equal(kGuestMac.begin(), kGuestMac.end(), payload.begin() + 28);
    if (!request || !own_card || read_32(payload, 236) != kDhcpCookie) return false;
    for (std::size_t at = kDhcpOptionsAt; at < payload.size();) {
        const auto option = payload[at++];
        if (option == 255) return true;
        if (option == 0) continue;
        if (at >= payload.size() || payload[at] >= payload.size() - at) return false;
        at += 1 + std::size_t{payload[at]};
    }
    return false;
}

Gate::Gate(const Clock& clock, Outputs outputs, const NameCache& names, DestinationLog& log)
    : clock_(clock), outputs_(std::move(outputs)), names_(names), log_(log) {}

void Gate::from_guest(MutableBytes frame) {
    const auto [problem, packet] = read_packet(frame);
    // A spoofed address could make others' answers come here; 0.0.0.0 is for DHCP only.
    const bool own_address = packet.from == kGuestAddress || packet.from == Address{};
    if (!problem.empty() || packet.from_mac != kGuestMac || !is_ours(packet.to_mac) || !own_address) {
        ++dropped_;
        return;
    }
    frame = frame.first(packet.size);
    const bool to_one = packet.to_mac != kEverybodyMac;
    const bool fits = packet.kind == PacketKind::Arp ||
                      (packet.kind == PacketKind::Udp &&
                       (packet.from == kGuestAddress || packet.to_port == kDhcpServerPort)) ||
                      (to_one && packet.from == kGuestAddress);
    if (!fits) {
        ++dropped_;
        return;
    }
    switch (packet.kind) {
        case PacketKind::Arp:
            return arp(frame, packet);
        case PacketKind::Tcp:
            return tcp(frame, packet);
        case PacketKind::Udp:
            return udp(frame, packet);
        case PacketKind::Icmp:
            return icmp(frame, packet);
    }
}

void Gate::arp(Bytes frame, const Packet& packet) {
    // The stack asks where the guest is, and learns it from the answer.
    if (!packet.arp_request) {
        if (packet.from == kGuestAddress) outputs_.to_stack(frame);
        return;
    }
    if (packet.to == kGateway) outputs_.to_guest(make_arp_reply(packet, kGatewayMac));
    if (packet.to == kNameServer) outputs_.to_guest(make_arp_reply(packet, kNameServerMac));
}

// ---- TCP

Contact Gate::contact_of(const Packet& packet, Protocol protocol) const {
    auto names = names_.names_of(packet.to);
    return {.name = names.empty() ? std::string{} : std::move(names.front()),
            .address = packet.to,
            .port = packet.to_port,
            .protocol = protocol,
            .allowed = false};
}

void Gate::tcp(MutableBytes frame, const Packet& packet) {
    // The stack of libslirp 4.7.0 must not see urgent data (CVE-2026-9539).
    clear_urgent(frame);
    const bool opens = packet.has(tcp_flag::kSyn) && !packet.has(tcp_flag::kAck);
    auto* flow = flows_.find(packet.from_port, packet.to, packet.to_port);
    if (flow && !(opens && flow->over())) return tcp_of_flow(frame, packet, *flow);
    if (opens) return open_flow(frame, packet);
    // Of a connection that was before a wake, or before this process.
    if (!packet.has(tcp_flag::kReset)) outputs_.to_guest(make_reset_for(packet));
}

void Gate::tcp_of_flow(MutableBytes frame, const Packet& packet, Flow& flow) {
    flow.last_seen = clock_.now();
    flow.uncounted.sent += static_cast<std::int64_t>(packet.payload_size);
    if (packet.has(tcp_flag::kAck)) flow.guest_acknowledged = packet.acknowledged;
    if (packet.has(tcp_flag::kFin) && !flow.guest_finished) {
        flow.guest_finished = true;
        if (flow.over()) flows_.finished(flow);
    }
    if (flow.connect_to != flow.destination) replace_destination(frame, flow.connect_to);
    if (packet.has(tcp_flag::kReset)) {
        count(flow);
        flows_.remove(flow);
    }
    outputs_.to_stack(frame);
}

void Gate::open_flow(MutableBytes frame, const Packet& packet) {
    auto contact = contact_of(packet, Protocol::Tcp);
    const Destination destination{packet.to, packet.to_port, names_.names_of(packet.to)};
    const auto decision = policy_.decide(destination);
    if (!decision.allowed) return refuse_tcp(packet, contact, decision.reason);
    if (!connect_rate_.take(clock_.now()) || !make_room())
        return refuse_tcp(packet, contact, "too many connections");
    contact.allowed = true;
    const auto* flow = flows_.add({.guest_port = packet.from_port,
                                   .destination = packet.to,
                                   .port = packet.to_port,
                                   .connect_to = decision.connect_to,
                                   .stack_acknowledged = packet.sequence + 1,
                                   .last_seen = clock_.now(),
                                   .contact = contact,
                                   .uncounted = {}});
    if (!flow) return refuse_tcp(packet, contact, "too many connections");
    log_.add(contact, decision.reason, {.connections = 1});
    if (decision.connect_to != packet.to) replace_destination(frame, decision.connect_to);
    outputs_.to_stack(frame);
}

void Gate::refuse_tcp(const Packet& packet, const Contact& contact, std::string_view reason) {
    auto refused = contact;
    refused.allowed = false;
    log_.add(refused, reason, {.connections = 1});
    outputs_.to_guest(make_reset_for(packet));
}

// One that has been idle for long gives way to a new one.
bool Gate::make_room() {
    if (flows_.open() < FlowTable::kMostOpen) return true;
    const auto now = clock_.now();
    const Flow* oldest = nullptr;
    flows_.for_each([&](const Flow& flow) {
        if (!flow.over() && (!oldest || flow.last_seen < oldest->last_seen)) oldest = &flow;
    });
    if (!oldest || now - oldest->last_seen < FlowTable::kMayGiveWay) return false;
    flows_.end_if([&](const Flow& flow) { return &flow == oldest; }, [this](Flow& flow) { end_flow(flow); });
    return true;
}

void Gate::from_stack(MutableBytes frame) {
    const auto [problem, packet] = read_packet(frame);
    if (!problem.empty()) {
        ++dropped_;
        return;
    }
    if (packet.kind == PacketKind::Tcp) {
        const auto source = packet.from == kHostLoopback ? kGateway : packet.from;
        auto* flow = flows_.find(packet.to_port, source, packet.from_port);
        if (!flow) return;  // of one that was ended
        flow->last_seen = clock_.now();
        flow->answered = true;
        flow->uncounted.received += static_cast<std::int64_t>(packet.payload_size);
        if (packet.has(tcp_flag::kAck)) flow->stack_acknowledged = packet.acknowledged;
        if (packet.has(tcp_flag::kSyn)) flow->guest_acknowledged = packet.sequence + 1;
        if (packet.has(tcp_flag::kFin) && !flow->stack_finished) {
            flow->stack_finished = true;
            if (flow->over()) flows_.finished(*flow);
        }
        if (flow->connect_to != flow->destination) replace_source(frame, flow->destination);
        if (packet.has(tcp_flag::kReset)) {
            count(*flow);
            flows_.remove(*flow);
        }
    } else if (packet.kind == PacketKind::Udp && packet.from_port != kDhcpServerPort) {
        ++dropped_;
        return;
    }
    outputs_.to_guest(frame.first(packet.size));
}

void Gate::end_flow(Flow& flow) {
    count(flow);
    const TcpHeader to_stack{.from_mac = kGuestMac,
                             .to_mac = kGatewayMac,
                             .from = kGuestAddress,
                             .to = flow.connect_to,
                             .from_port = flow.guest_port,
                             .to_port = flow.port,
                             .sequence = flow.stack_acknowledged,
                             .acknowledged = flow.guest_acknowledged,
                             .flags = tcp_flag::kReset | tcp_flag::kAck};
    const TcpHeader to_guest{.from_mac = kGatewayMac,
                             .to_mac = kGuestMac,
                             .from = flow.destination,
                             .to = kGuestAddress,
                             .from_port = flow.port,
                             .to_port = flow.guest_port,
                             .sequence = flow.guest_acknowledged,
                             .acknowledged = flow.stack_acknowledged,
                             .flags = tcp_flag::kReset | tcp_flag::kAck};
    outputs_.to_stack(make_tcp(to_stack));
    outputs_.to_guest(make_tcp(to_guest));
}

std::size_t Gate::set_policy(Policy policy) {
    policy_ = std::move(policy);
    return flows_.end_if(
        [this](const Flow& flow) {
            const auto decision =
                policy_.decide({flow.destination, flow.port, names_.names_of(flow.destination)});
            return !decision.allowed || decision.connect_to != flow.connect_to;
        },
        [this](Flow& flow) { end_flow(flow); });
}

void Gate::expire() {
    const auto now = clock_.now();
    flows_.end_if([&](const Flow& flow) { return FlowTable::is_stale(flow, now); },
                  [this](Flow& flow) {
                      if (flow.over())
                          count(flow);
                      else
                          end_flow(flow);
                  });
}

void Gate::count(Flow& flow) {
    if (flow.uncounted.sent == 0 && flow.uncounted.received == 0) return;
    log_.add(flow.contact, "", std::exchange(flow.uncounted, {}));
}

void Gate::count_traffic() {
    flows_.for_each([this](Flow& flow) { count(flow); });
}

// ---- UDP and ICMP

void Gate::udp(Bytes frame, const Packet& packet) {
    const auto payload = frame.subspan(packet.payload_at, packet.payload_size);
    if (packet.to_port == kDhcpServerPort && packet.from_port == kDhcpClientPort &&
        (packet.to == kBroadcast || packet.to == kGateway)) {
        if (is_dhcp_request(payload)) return outputs_.to_stack(frame);
        ++dropped_;
        return;
    }
    if (packet.from != kGuestAddress) return;
    if (packet.to == kNameServer && packet.to_port == kDnsPort)
        return outputs_.to_name_server(text_of(payload), packet.from_port);
    prohibit(frame, packet, Protocol::Udp);
}

void Gate::icmp(Bytes frame, const Packet& packet) {
    if (packet.icmp_type != kEchoRequest || packet.icmp_code != 0) return;
    if (packet.to == kGateway) return outputs_.to_guest(make_echo_reply(frame, packet));
    prohibit(frame, packet, Protocol::Icmp);
}

void Gate::prohibit(Bytes frame, const Packet& packet, Protocol protocol) {
    // Nobody is told about broadcasts: discovery of printers and the like.
    const bool to_many = packet.to == kBroadcast || packet.to == address(10, 0, 2, 255) ||
                         Block{address(224, 0, 0, 0), 4}.contains(packet.to);
    if (to_many) return;
    const auto reason = policy_.mode() == Mode::None ? policy_.decide({packet.to, packet.to_port, {}}).reason
                                                     : "only TCP and names leave a desktop";
    log_.add(contact_of(packet, protocol), reason, {.connections = 1});
    outputs_.to_guest(make_prohibited(frame, packet));
}

void Gate::answer_name(std::string_view message, std::uint16_t guest_port) {
    outputs_.to_guest(make_udp_to_guest(
        {.from_mac = kNameServerMac, .from = kNameServer, .from_port = kDnsPort, .to_port = guest_port},
        message));
}

}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/frame.h"

#include <algorithm>

namespace dormouse::net {

namespace {

constexpr std::uint16_t kTypeIp = 0x0800;
constexpr std::uint16_t kTypeArp = 0x0806;
constexpr std::uint8_t kProtocolIcmp = 1;
constexpr std::uint8_t kProtocolTcp = 6;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::size_t kIpAt = kEthernetHeader;
constexpr std::size_t kTransportAt = kEthernetHeader + kIpHeader;
constexpr std::size_t kArpSize = 28;
constexpr std::size_t kTcpHeader = 20;
constexpr std::size_t kUdpHeader = 8;
constexpr std::size_t kIcmpHeader = 8;
constexpr std::uint8_t kTtl = 64;

void write_16(MutableBytes bytes, std::size_t at, std::uint16_t value) {
    bytes[at] = static_cast<std::uint8_t>(value >> 8);
    bytes[at + 1] = static_cast<std::uint8_t>(value);
}
void write_32(MutableBytes bytes, std::size_t at, std::uint32_t value) {
    write_16(bytes, at, static_cast<std::uint16_t>(value >> 16));
    write_16(bytes, at + 2, static_cast<std::uint16_t>(value));
}

// RFC 1624: a checksum after one 16-bit word under it has changed.
std::uint16_t adjusted(std::uint16_t checksum, std::uint16_t before, std::uint16_t after) {
    std::uint32_t sum = static_cast<std::uint16_t>(~checksum);
    sum += static_cast<std::uint16_t>(~before);
    sum += after;
    return checksum_of(sum);
}

void replace_word(MutableBytes frame, std::size_t at, std::uint16_t value, std::size_t checksum_at) {
    const auto before = read_16(frame, at);
    if (before == value) return;
    write_16(frame, at, value);
    write_16(frame, checksum_at, adjusted(read_16(frame, checksum_at), before, value));
}

constexpr std::size_t kIpChecksumAt = kIpAt + 10;
constexpr std::size_t kTcpChecksumAt = kTransportAt + 16;

// An address is under IP's checksum and, in TCP's pseudo header, under TCP's.
void replace_address(MutableBytes frame, std::size_t at, Address address) {
    for (const std::size_t half : {std::size_t{0}, std::size_t{2}}) {
        const auto word = static_cast<std::uint16_t>(address.value >> (half == 0 ? 16 : 0));
        const auto before = read_16(frame, at + half);
        write_16(frame, kTcpChecksumAt, adjusted(read_16(frame, kTcpChecksumAt), before, word));
        replace_word(frame, at + half, word, kIpChecksumAt);
    }
}

ReadPacket bad(std::string_view why) {
    return {why, {}};
}

ReadPacket read_arp(Bytes frame, Packet packet) {
    if (frame.size() < kEthernetHeader + kArpSize) return bad("a short ARP packet");
    const auto arp = frame.subspan(kEthernetHeader, kArpSize);
    const bool is_ethernet_ip =
        read_16(arp, 0) == 1 && read_16(arp, 2) == kTypeIp && arp[4] == 6 && arp[5] == 4;
    const auto operation = read_16(arp, 6);
    if (!is_ethernet_ip || (operation != 1 && operation != 2)) return bad("ARP of another kind");
    if (!std::equal(arp.begin() + 8, arp.begin() + 14, packet.from_mac.begin()))
        return bad("ARP for another card");
    packet.kind = PacketKind::Arp;
    packet.arp_request = operation == 1;
    packet.from = Address{read_32(arp, 14)};
    packet.to = Address{read_32(arp, 24)};
    packet.size = kEthernetHeader + kArpSize;
    return {{}, packet};
}

ReadPacket read_tcp(Bytes segment, Packet packet) {
    if (segment.size() < kTcpHeader) return bad("a short TCP header");
    const std::size_t header = static_cast<std::size_t>(segment[12] >> 4) * 4;
    if (header < kTcpHeader || header > segment.size()) return bad("a wrong TCP header length");
    packet.kind = PacketKind::Tcp;
    packet.from_port = read_16(segment, 0);
    packet.to_port = read_16(segment, 2);
    packet.sequence = read_32(segment, 4);
    packet.acknowledged = read_32(segment, 8);
    packet.flags = segment[13];
    packet.payload_at = kTransportAt + header;
    packet.payload_size = segment.size() - header;
    if (packet.from_port == 0 || packet.to_port == 0) return bad("TCP port 0");
    // What no TCP sends: scanners do, and stacks have tripped over it.
    const bool syn = packet.has(tcp_flag::kSyn);
    const bool reset = packet.has(tcp_flag::kReset);
    if (syn && (reset || packet.has(tcp_flag::kFin))) return bad("impossible TCP flags");
    if (!syn && !reset && !packet.has(tcp_flag::kAck)) return bad("impossible TCP flags");
    return {{}, packet};
}

ReadPacket read_udp(Bytes datagram, Packet packet) {
    if (datagram.size() < kUdpHeader) return bad("a short UDP header");
    if (read_16(datagram, 4) != datagram.size()) return bad("a wrong UDP length");
    packet.kind = PacketKind::Udp;
    packet.from_port = read_16(datagram, 0);
    packet.to_port = read_16(datagram, 2);
    packet.payload_at = kTransportAt + kUdpHeader;
    packet.payload_size = datagram.size() - kUdpHeader;
    return {{}, packet};
}

ReadPacket read_ip(Bytes frame, Packet packet) {
    if (frame.size() < kTransportAt) return bad("a short IP header");
    const auto ip = frame.subspan(kIpAt);
    if (ip[0] >> 4 != 4) return bad("not IPv4");
    if ((ip[0] & 15) * 4 != static_cast<int>(kIpHeader)) return bad("IP options");
    const std::size_t total = read_16(ip, 2);
    if (total < kIpHeader || total > ip.size()) return bad("a wrong IP length");
    if ((read_16(ip, 6) & 0x3fff) != 0) return bad("an IP fragment");
    if (checksum_of(add_to_sum(ip.first(kIpHeader), 0)) != 0) return bad("a wrong IP checksum");
    packet.from = Address{read_32(ip, 12)};
    packet.to = Address{read_32(ip, 16)};
    packet.size = kEthernetHeader + total;
    const auto transport = ip.subspan(kIpHeader, total - kIpHeader);
    switch (ip[9]) {
        case kProtocolTcp:
            return read_tcp(transport, packet);
        case kProtocolUdp:
            return read_udp(transport, packet);
        case kProtocolIcmp:
            if (transport.size() < kIcmpHeader) return bad("a short ICMP header");
            packet.kind = PacketKind::Icmp;
            packet.icmp_type = transport[0];
            packet.icmp_code = transport[1];
            packet.payload_at = kTransportAt;
            packet.payload_size = transport.size();
            return {{}, packet};
        default:
            return bad("an IP protocol other than TCP, UDP and ICMP");
    }
}

// A frame with Ethernet and IP headers for `size` bytes of `protocol`.
struct IpHeader {
    Mac from_mac{};
    Mac to_mac{};
    Address from;
    Address to;
    std::uint8_t protocol = 0;
};
Frame make_ip(const IpHeader& header, std::size_t size) {
    Frame frame(kTransportAt + size);
    std::copy(header.to_mac.begin(), header.to_mac.end(), frame.begin());
    std::copy(header.from_mac.begin(), header.from_mac.end(), frame.begin() + 6);
    write_16(frame, 12, kTypeIp);
    frame[kIpAt] = 0x45;
    write_16(frame, kIpAt + 2, static_cast<std::uint16_t>(kIpHeader + size));
    write_16(frame, kIpAt + 6, 0x4000);  // never in fragments
    frame[kIpAt + 8] = kTtl;
    frame[kIpAt + 9] = header.protocol;
    write_32(frame, kIpAt + 12, header.from.value);
    write_32(frame, kIpAt + 16, header.to.value);
    write_16(frame, kIpChecksumAt, checksum_of(add_to_sum(Bytes{frame}.subspan(kIpAt, kIpHeader), 0)));
    return frame;
}

// With the pseudo header of TCP and UDP.
std::uint16_t transport_checksum(Bytes frame, std::uint8_t protocol) {
    auto sum = add_to_sum(frame.subspan(kIpAt + 12, 8), 0);
    sum += protocol;
    sum += static_cast<std::uint32_t>(frame.size() - kTransportAt);
    return checksum_of(add_to_sum(frame.subspan(kTransportAt), sum));
}

}  // namespace

std::uint32_t add_to_sum(Bytes bytes, std::uint32_t sum) {
    // Frames are short: 32 bits hold the carries of 64 KiB.
    std::size_t at = 0;
    for (; at + 1 < bytes.size(); at += 2) sum += read_16(bytes, at);
    if (at < bytes.size()) sum += static_cast<std::uint32_t>(bytes[at]) << 8;
    return sum;
}

std::uint16_t checksum_of(std::uint32_t sum) {
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

ReadPacket read_packet(Bytes frame) {
    if (frame.size() < kEthernetHeader) return bad("a short frame");
    if (frame.size() > kLongestFrame) return bad("a frame that is too long");
    Packet packet;
    std::copy_n(frame.begin(), 6, packet.to_mac.begin());
    std::copy_n(frame.begin() + 6, 6, packet.from_mac.begin());
    switch (read_16(frame, 12)) {
        case kTypeArp:
            return read_arp(frame, packet);
        case kTypeIp:
            return read_ip(frame, packet);
        default:
            return bad("neither IPv4 nor ARP");
    }
}

void clear_urgent(MutableBytes frame) {
    const auto flags_at = kTransportAt + 12;
    const auto flags = read_16(frame, flags_at);
    replace_word(frame, flags_at, static_cast<std::uint16_t>(flags & ~tcp_flag::kUrgent), kTcpChecksumAt);
    replace_word(frame, kTransportAt + 18, 0, kTcpChecksumAt);
}

void replace_source(MutableBytes frame, Address address) {
    replace_address(frame, kIpAt + 12, address);
}
void replace_destination(MutableBytes frame, Address address) {
    replace_address(frame, kIpAt + 16, address);
}

Frame make_arp_reply(const Packet& request, Mac owner) {
    Frame frame(kEthernetHeader + kArpSize);
    std::copy(request.from_mac.begin(), request.from_mac.end(), frame.begin());
    std::copy(owner.begin(), owner.end(), frame.begin() + 6);
    write_16(frame, 12, kTypeArp);
    const auto arp = MutableBytes{frame}.subspan(kEthernetHeader);
    write_16(arp, 0, 1);
    write_16(arp, 2, kTypeIp);
    arp[4] = 6;
    arp[5] = 4;
    write_16(arp, 6, 2);
    std::copy(owner.begin(), owner.end(), arp.begin() + 8);
    write_32(arp, 14, request.to.value);
    std::copy(request.from_mac.begin(), request.from_mac.end(), arp.begin() + 18);
    write_32(arp, 24, request.from.value);
    return frame;
}

Frame make_echo_reply(Bytes request, const Packet& packet) {
    auto frame = make_ip({.from_mac = packet.to_mac,
                          .to_mac = packet.from_mac,
                          .from = packet.to,
                          .to = packet.from,
                          .protocol = kProtocolIcmp},
                         packet.payload_size);
    const auto icmp = MutableBytes{frame}.subspan(kTransportAt);
    const auto asked = request.subspan(packet.payload_at, packet.payload_size);
    std::copy(asked.begin(), asked.end(), icmp.begin());
    icmp[0] = 0;
    write_16(icmp, 2, 0);
    write_16(icmp, 2, checksum_of(add_to_sum(icmp, 0)));
    return frame;
}

Frame make_prohibited(Bytes about, const Packet& packet) {
    const auto quoted =
        about.subspan(kIpAt, std::min(packet.size - kEthernetHeader, kIpHeader + std::size_t{8}));
    auto frame = make_ip({.from_mac = kGatewayMac,
                          .to_mac = packet.from_mac,
                          .from = kGateway,
                          .to = packet.from,
                          .protocol = kProtocolIcmp},
                         kIcmpHeader + quoted.size());
    const auto icmp = MutableBytes{frame}.subspan(kTransportAt);
    icmp[0] = 3;   // unreachable
    icmp[1] = 13;  // administratively prohibited
    std::copy(quoted.begin(), quoted.end(), icmp.begin() + kIcmpHeader);
    write_16(icmp, 2, checksum_of(add_to_sum(icmp, 0)));
    return frame;
}

Frame make_tcp(const TcpHeader& header) {
    auto frame = make_ip({.from_mac = header.from_mac,
                          .to_mac = header.to_mac,
                          .from = header.from,
                          .to = header.to,
                          .protocol = kProtocolTcp},
                         kTcpHeader);
    const auto tcp = MutableBytes{frame}.subspan(kTransportAt);
    write_16(tcp, 0, header.from_port);
    write_16(tcp, 2, header.to_port);
    write_32(tcp, 4, header.sequence);
    write_32(tcp, 8, header.acknowledged);
    tcp[12] = static_cast<std::uint8_t>(kTcpHeader / 4 << 4);
    tcp[13] = header.flags;
    write_16(tcp, 16, transport_checksum(frame, kProtocolTcp));
    return frame;
}

// RFC 9293, 3.5.2: a segment that acknowledges is reset at what it acknowledges.
Frame make_reset_for(const Packet& packet) {
    TcpHeader header{.from_mac = packet.to_mac,
                     .to_mac = packet.from_mac,
                     .from = packet.to,
                     .to = packet.from,
                     .from_port = packet.to_port,
                     .to_port = packet.from_port};
    if (packet.has(tcp_flag::kAck)) {
        header.sequence = packet.acknowledged;
        header.flags = tcp_flag::kReset;
    } else {
        header.acknowledged = packet.sequence + packet.length_in_sequence();
        header.flags = tcp_flag::kReset | tcp_flag::kAck;
    }
    return make_tcp(header);
}

Frame make_udp_to_guest(const UdpHeader& header, std::string_view payload) {
    auto frame = make_ip({.from_mac = header.from_mac,
                          .to_mac = kGuestMac,
                          .from = header.from,
                          .to = kGuestAddress,
                          .protocol = kProtocolUdp},
                         kUdpHeader + payload.size());
    const auto udp = MutableBytes{frame}.subspan(kTransportAt);
    write_16(udp, 0, header.from_port);
    write_16(udp, 2, header.to_port);
    write_16(udp, 4, static_cast<std::uint16_t>(udp.size()));
    std::copy(payload.begin(), payload.end(), udp.begin() + kUdpHeader);
    const auto checksum = transport_checksum(frame, kProtocolUdp);
    write_16(udp, 6, checksum == 0 ? 0xffff : checksum);  // 0 would mean that there is none
    return frame;
}

}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "vmm/net/address.h"

// Ethernet frames between a desktop and its network: reading what the guest
// sends, with every length checked, and making what is sent to it. Plain values.
namespace dormouse::net {

using Bytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;
using Frame = std::vector<std::uint8_t>;
using Mac = std::array<std::uint8_t, 6>;

constexpr Mac kGuestMac{0x52, 0x54, 0x00, 0x12, 0x34, 0x56};  // vmm::kMacAddress
constexpr Mac kGatewayMac{0x52, 0x55, 10, 0, 2, 2};
constexpr Mac kNameServerMac{0x52, 0x55, 10, 0, 2, 3};
constexpr Mac kEverybodyMac{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

constexpr std::size_t kEthernetHeader = 14;
constexpr std::size_t kIpHeader = 20;  // we take no options
constexpr std::size_t kLongestFrame = kEthernetHeader + 1500;

enum class PacketKind { Arp, Tcp, Udp, Icmp };

namespace tcp_flag {
constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kSyn = 0x02;
constexpr std::uint8_t kReset = 0x04;
constexpr std::uint8_t kAck = 0x10;
constexpr std::uint8_t kUrgent = 0x20;
}  // namespace tcp_flag

// What a frame says. Which fields hold depends on `kind`.
struct Packet {
    PacketKind kind = PacketKind::Arp;
    std::size_t size = 0;  // of the frame, without what pads it
    Mac from_mac{};
    Mac to_mac{};
    Address from;  // ARP: the sender
    Address to;    // ARP: the one that is looked for
    bool arp_request = false;

    std::uint16_t from_port = 0;  // TCP, UDP
    std::uint16_t to_port = 0;
    std::uint32_t sequence = 0;  // TCP
    std::uint32_t acknowledged = 0;
    std::uint8_t flags = 0;
    std::uint8_t icmp_type = 0;
    std::uint8_t icmp_code = 0;
    std::size_t payload_at = 0;  // what TCP and UDP carry: offset in the frame
    std::size_t payload_size = 0;

    bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
    // Numbers that a TCP segment takes in its sequence.
    std::uint32_t length_in_sequence() const {
        return static_cast<std::uint32_t>(payload_size) + (has(tcp_flag::kSyn) ? 1 : 0) +
               (has(tcp_flag::kFin) ? 1 : 0);
    }
};

// `problem` says why a frame is not one of ours to look at; "" when it is.
struct ReadPacket {
    std::string_view problem;
    Packet packet;
};
// Takes ARP, TCP, UDP and ICMP over IPv4 without options and fragments. All
// lengths are those that the frame really has, and IP's checksum is right.
ReadPacket read_packet(Bytes frame);

// ---- changing a TCP packet in place; checksums follow

void clear_urgent(MutableBytes frame);
void replace_source(MutableBytes frame, Address address);
void replace_destination(MutableBytes frame, Address address);

// ---- making frames

Frame make_arp_reply(const Packet& request, Mac owner);
// The answer to an ICMP echo request, from whom it was sent to.
Frame make_echo_reply(Bytes request, const Packet& packet);
// "Administratively prohibited", about a packet that the guest sent.
Frame make_prohibited(Bytes frame, const Packet& packet);
// What ends the attempt or the connection that `packet` of the guest belongs to.
Frame make_reset_for(const Packet& packet);

struct TcpHeader {
    Mac from_mac{};
    Mac to_mac{};
    Address from;
    Address to;
    std::uint16_t from_port = 0;
    std::uint16_t to_port = 0;
    std::uint32_t sequence = 0;
    std::uint32_t acknowledged = 0;
    std::uint8_t flags = 0;
};
Frame make_tcp(const TcpHeader& header);  // without a payload

struct UdpHeader {
    Mac from_mac{};
    Address from;
    std::uint16_t from_port = 0;
    std::uint16_t to_port = 0;
};
Frame make_udp_to_guest(const UdpHeader& header, std::string_view payload);

// The sum of the internet's protocols over `bytes`, going on from `sum`.
std::uint32_t add_to_sum(Bytes bytes, std::uint32_t sum);
std::uint16_t checksum_of(std::uint32_t sum);

inline std::uint16_t read_16(Bytes bytes, std::size_t at) {
    return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}
inline std::uint32_t read_32(Bytes bytes, std::size_t at) {
    return static_cast<std::uint32_t>(read_16(bytes, at)) << 16 | read_16(bytes, at + 2);
}

}  // namespace dormouse::net

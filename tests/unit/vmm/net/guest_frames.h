// SPDX-License-Identifier: Apache-2.0
// What a guest's kernel would put on the wire.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "vmm/net/frame.h"

namespace dormouse::net {

struct Segment {
    Address to;
    std::uint16_t to_port = 80;
    std::uint16_t from_port = 40000;
    std::uint8_t flags = tcp_flag::kSyn;
    std::uint32_t sequence = 1000;
    std::uint32_t acknowledged = 0;
    std::string payload;
    Address from = kGuestAddress;
};

inline void put_16(Frame& frame, std::size_t at, std::uint16_t value) {
    frame[at] = static_cast<std::uint8_t>(value >> 8);
    frame[at + 1] = static_cast<std::uint8_t>(value);
}

// Makes IP's and TCP's or UDP's checksums right again.
inline void fix_checksums(Frame& frame) {
    put_16(frame, 24, 0);
    put_16(frame, 24, checksum_of(add_to_sum(Bytes{frame}.subspan(14, 20), 0)));
    const std::size_t checksum_at = frame[23] == 6 ? 50 : 40;
    put_16(frame, checksum_at, 0);
    auto sum = add_to_sum(Bytes{frame}.subspan(26, 8), 0);
    sum += frame[23];
    sum += static_cast<std::uint32_t>(frame.size() - 34);
    put_16(frame, checksum_at, checksum_of(add_to_sum(Bytes{frame}.subspan(34), sum)));
}

inline bool checksums_are_right(Bytes frame) {
    const bool ip = checksum_of(add_to_sum(frame.subspan(14, 20), 0)) == 0;
    if (frame[23] == 1) return ip && checksum_of(add_to_sum(frame.subspan(34), 0)) == 0;
    auto sum = add_to_sum(frame.subspan(26, 8), 0);
    sum += frame[23];
    sum += static_cast<std::uint32_t>(frame.size() - 34);
    return ip && checksum_of(add_to_sum(frame.subspan(34), sum)) == 0;
}

inline Frame guest_tcp(const Segment& segment) {
    auto frame = make_tcp({.from_mac = kGuestMac,
                           .to_mac = kGatewayMac,
                           .from = segment.from,
                           .to = segment.to,
                           .from_port = segment.from_port,
                           .to_port = segment.to_port,
                           .sequence = segment.sequence,
                           .acknowledged = segment.acknowledged,
                           .flags = segment.flags});
    frame.insert(frame.end(), segment.payload.begin(), segment.payload.end());
    put_16(frame, 16, static_cast<std::uint16_t>(frame.size() - 14));
    put_16(frame, 34 + 14, 0xffff);  // its window
    fix_checksums(frame);
    return frame;
}

struct Datagram {
    Address to;
    std::uint16_t to_port = 53;
    std::uint16_t from_port = 50000;
    std::string payload;
    Address from = kGuestAddress;
    Mac to_mac = kGatewayMac;
};
inline Frame guest_udp(const Datagram& datagram) {
    auto frame = make_udp_to_guest({.from_mac = kGuestMac,
                                    .from = datagram.from,
                                    .from_port = datagram.from_port,
                                    .to_port = datagram.to_port},
                                   datagram.payload);
    std::copy(datagram.to_mac.begin(), datagram.to_mac.end(), frame.begin());
    for (int i = 0; i < 4; ++i)
        frame[static_cast<std::size_t>(30 + i)] =
            static_cast<std::uint8_t>(datagram.to.value >> (24 - 8 * i));
    fix_checksums(frame);
    return frame;
}

inline Frame guest_ping(Address to, std::string_view payload = "ping") {
    auto frame = guest_udp({.to = to, .payload = std::string{payload}});
    frame[23] = 1;
    frame[34] = 8;
    frame[35] = 0;
    put_16(frame, 36, 0);
    put_16(frame, 24, 0);
    put_16(frame, 24, checksum_of(add_to_sum(Bytes{frame}.subspan(14, 20), 0)));
    put_16(frame, 36, checksum_of(add_to_sum(Bytes{frame}.subspan(34), 0)));
    return frame;
}

inline Frame guest_arp(Address who, Address from = kGuestAddress) {
    Packet request;
    request.from_mac = kEverybodyMac;
    request.to = from;
    request.from = who;
    auto frame = make_arp_reply(request, kGuestMac);
    frame[21] = 1;  // a request
    for (std::size_t i = 32; i < 38; ++i) frame[i] = 0;
    return frame;
}

inline std::string dhcp_request(std::uint8_t type) {
    std::string message(240, '\0');
    message[0] = 1;
    message[1] = 1;
    message[2] = 6;
    std::memcpy(message.data() + 4, "abcd", 4);
    std::copy(kGuestMac.begin(), kGuestMac.end(), message.begin() + 28);
    message.replace(236, 4, "\x63\x82\x53\x63");
    message += std::string{"\x35\x01", 2} + static_cast<char>(type);
    if (type == 3) message += std::string{"\x32\x04\x0a\x00\x02\x0f", 6};
    message += '\xff';
    return message;
}
inline Frame guest_dhcp(std::uint8_t type) {
    return guest_udp({.to = kBroadcast,
                      .to_port = 67,
                      .from_port = 68,
                      .payload = dhcp_request(type),
                      .from = {},
                      .to_mac = kEverybodyMac});
}

inline std::string dns_query(std::string_view name, std::uint16_t type = 1, std::uint16_t id = 0x1234) {
    std::string message{static_cast<char>(id >> 8), static_cast<char>(id), 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    while (!name.empty()) {
        const auto label = name.substr(0, name.find('.'));
        message += static_cast<char>(label.size());
        message += label;
        name.remove_prefix(std::min(name.size(), label.size() + 1));
    }
    message += '\0';
    message += static_cast<char>(type >> 8);
    message += static_cast<char>(type);
    message += std::string{"\0\x01", 2};
    return message;
}

}  // namespace dormouse::net

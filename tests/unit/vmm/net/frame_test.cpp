// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/frame.h"

#include <gtest/gtest.h>

#include <functional>

#include "guest_frames.h"
#include "vmm/qemu_command.h"

namespace dormouse::net {
namespace {

const Address kWeb = address(93, 184, 216, 34);

std::string problem_with(const Frame& frame) {
    return std::string{read_packet(frame).problem};
}

// A good frame, spoilt, with its checksums made right again.
std::string problem_when(const std::function<void(Frame&)>& spoil, bool fix = true) {
    auto frame = guest_tcp({.to = kWeb, .payload = "hello"});
    spoil(frame);
    if (fix) fix_checksums(frame);
    return problem_with(frame);
}

TEST(Frame, KnowsTheCardThatQemuHas) {
    EXPECT_EQ(fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", kGuestMac[0], kGuestMac[1],
                          kGuestMac[2], kGuestMac[3], kGuestMac[4], kGuestMac[5]),
              vmm::kMacAddress);
}

TEST(Frame, ReadsTcp) {
    const auto frame = guest_tcp({.to = kWeb, .to_port = 443, .payload = "hello"});
    const auto [problem, packet] = read_packet(frame);
    EXPECT_EQ(problem, "");
    EXPECT_EQ(packet.kind, PacketKind::Tcp);
    EXPECT_EQ(packet.from, kGuestAddress);
    EXPECT_EQ(packet.to, kWeb);
    EXPECT_EQ(packet.to_port, 443);
    EXPECT_EQ(packet.sequence, 1000U);
    EXPECT_EQ(packet.payload_size, 5U);
    EXPECT_EQ(packet.length_in_sequence(), 6U);
    EXPECT_TRUE(checksums_are_right(frame));
}

TEST(Frame, LeavesPaddingOut) {
    auto frame = guest_tcp({.to = kWeb});
    const auto size = frame.size();
    frame.resize(60);
    EXPECT_EQ(read_packet(frame).packet.size, size);
}

TEST(Frame, RefusesWhatIsMalformed) {
    EXPECT_EQ(problem_when([](Frame& f) { f.resize(13); }, false), "a short frame");
    EXPECT_EQ(problem_when([](Frame& f) { f.resize(1600); }, false), "a frame that is too long");
    EXPECT_EQ(problem_when([](Frame& f) { f.resize(30); }, false), "a short IP header");
    EXPECT_EQ(problem_when([](Frame& f) { put_16(f, 12, 0x86dd); }, false), "neither IPv4 nor ARP");
    EXPECT_EQ(problem_when([](Frame& f) { put_16(f, 12, 0x8100); }, false), "neither IPv4 nor ARP");
    EXPECT_EQ(problem_when([](Frame& f) { f[14] = 0x65; }), "not IPv4");
    EXPECT_EQ(problem_when([](Frame& f) { f[14] = 0x46; }), "IP options");
    EXPECT_EQ(problem_when([](Frame& f) { put_16(f, 16, 19); }), "a wrong IP length");
    EXPECT_EQ(problem_when([](Frame& f) { put_16(f, 16, 900); }), "a wrong IP length");
    EXPECT_EQ(problem_when([](Frame& f) { put_16(f, 20, 0x2000); }), "an IP fragment");
    EXPECT_EQ(problem_when([](Frame& f) { put_16(f, 20, 0x0001); }), "an IP fragment");
    EXPECT_EQ(problem_when([](Frame& f) { f[30] ^= 1; }, false), "a wrong IP checksum");
    EXPECT_EQ(problem_when([](Frame& f) { f[23] = 132; }, true),
              "an IP protocol other than TCP, UDP and ICMP");
    EXPECT_EQ(problem_when([](Frame& f) { put_16(f, 16, 30); }), "a short TCP header");
    EXPECT_EQ(problem_when([](Frame& f) { f[46] = 0x40; }), "a wrong TCP header length");
    EXPECT_EQ(problem_when([](Frame& f) { f[46] = 0xf0; }), "a wrong TCP header length");
    EXPECT_EQ(problem_when([](Frame& f) { put_16(f, 36, 0); }), "TCP port 0");
    EXPECT_EQ(problem_when([](Frame& f) { f[47] = tcp_flag::kSyn | tcp_flag::kFin; }),
              "impossible TCP flags");
    EXPECT_EQ(problem_when([](Frame& f) { f[47] = 0; }), "impossible TCP flags");
}

TEST(Frame, TakesUrgentDataAwayAndKeepsTheChecksumRight) {
    auto frame = guest_tcp({.to = kWeb, .flags = tcp_flag::kAck | tcp_flag::kUrgent, .payload = "!"});
    put_16(frame, 52, 0xfff0);
    fix_checksums(frame);
    clear_urgent(frame);
    EXPECT_EQ(read_packet(frame).packet.flags, tcp_flag::kAck);
    EXPECT_EQ(read_16(frame, 52), 0);
    EXPECT_TRUE(checksums_are_right(frame));
}

TEST(Frame, TranslatesAddressesAndKeepsTheChecksumsRight) {
    for (std::uint32_t value = 0; value < 500; ++value) {
        auto frame = guest_tcp({.to = kGateway, .sequence = value * 7919, .payload = "abc"});
        replace_destination(frame, kHostLoopback);
        replace_source(frame, Address{value * 0x01010193});
        const auto packet = read_packet(frame).packet;
        ASSERT_EQ(packet.to, kHostLoopback);
        ASSERT_EQ(packet.from, Address{value * 0x01010193});
        ASSERT_TRUE(checksums_are_right(frame)) << value;
    }
}

TEST(Frame, ResetsAsTheStandardSays) {
    const auto syn = guest_tcp({.to = kWeb, .sequence = 77});
    const auto refused = make_reset_for(read_packet(syn).packet);
    auto packet = read_packet(refused).packet;
    EXPECT_EQ(packet.from, kWeb);
    EXPECT_EQ(packet.to, kGuestAddress);
    EXPECT_EQ(packet.flags, tcp_flag::kReset | tcp_flag::kAck);
    EXPECT_EQ(packet.acknowledged, 78U);
    EXPECT_TRUE(checksums_are_right(refused));
    const auto late = guest_tcp({.to = kWeb, .flags = tcp_flag::kAck, .acknowledged = 4711, .payload = "x"});
    packet = read_packet(make_reset_for(read_packet(late).packet)).packet;
    EXPECT_EQ(packet.flags, tcp_flag::kReset);
    EXPECT_EQ(packet.sequence, 4711U);
}

TEST(Frame, AnswersPingsAndSaysWhatIsProhibited) {
    const auto ping = guest_ping(kGateway, "payload");
    const auto reply = make_echo_reply(ping, read_packet(ping).packet);
    const auto packet = read_packet(reply).packet;
    EXPECT_EQ(packet.icmp_type, 0);
    EXPECT_EQ(packet.from, kGateway);
    EXPECT_TRUE(checksums_are_right(reply));
    EXPECT_EQ(reply.size(), ping.size());

    const auto udp = guest_udp({.to = kWeb, .to_port = 443, .payload = "quic"});
    const auto refused = make_prohibited(udp, read_packet(udp).packet);
    const auto told = read_packet(refused).packet;
    EXPECT_EQ(told.icmp_type, 3);
    EXPECT_EQ(told.icmp_code, 13);
    EXPECT_TRUE(checksums_are_right(refused));
    EXPECT_TRUE(std::equal(udp.begin() + 14, udp.begin() + 42, refused.begin() + 42));
}

}  // namespace
}  // namespace dormouse::net

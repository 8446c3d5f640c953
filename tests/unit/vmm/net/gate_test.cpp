// SPDX-License-Identifier: Apache-2.0
// What passes between a desktop and the stack, and what does not.
#include "vmm/net/gate.h"

#include <gtest/gtest.h>

#include "guest_frames.h"

namespace dormouse::net {
namespace {

using namespace std::chrono_literals;

const Address kWeb = address(93, 184, 216, 34);

class GateTest : public ::testing::Test {
  protected:
    GateTest() { open(); }

    void open(std::vector<Exception> allow = {}) {
        gate_.set_policy(Policy{{.mode = Mode::Open, .allow = std::move(allow)}, {}});
    }
    void send(Frame frame) { gate_.from_guest(frame); }
    void answer(Frame frame) { gate_.from_stack(frame); }
    Frame from_web(std::uint8_t flags, std::uint32_t sequence, std::uint32_t acknowledged,
                   Address from = kWeb) {
        return make_tcp({.from_mac = kGatewayMac,
                         .to_mac = kGuestMac,
                         .from = from,
                         .to = kGuestAddress,
                         .from_port = 80,
                         .to_port = 40000,
                         .sequence = sequence,
                         .acknowledged = acknowledged,
                         .flags = flags});
    }
    void connect() {
        send(guest_tcp({.to = kWeb}));
        answer(from_web(tcp_flag::kSyn | tcp_flag::kAck, 500, 1001));
        send(guest_tcp({.to = kWeb, .flags = tcp_flag::kAck, .sequence = 1001, .acknowledged = 501}));
        to_stack_.clear();
        to_guest_.clear();
    }
    Packet last_to_guest() const { return read_packet(to_guest_.back()).packet; }
    Packet last_to_stack() const { return read_packet(to_stack_.back()).packet; }
    std::vector<DestinationRow> log() {
        gate_.count_traffic();
        auto report = log_.report();
        if (!report) return {};
        log_.acknowledge(report->sequence);
        return report->rows;
    }

    ManualClock clock_;
    NameCache names_{clock_};
    DestinationLog log_{clock_, "test"};
    std::vector<Frame> to_guest_;
    std::vector<Frame> to_stack_;
    std::vector<std::string> questions_;
    Gate gate_{clock_,
               {.to_guest = [this](Bytes frame) { to_guest_.emplace_back(frame.begin(), frame.end()); },
                .to_stack = [this](Bytes frame) { to_stack_.emplace_back(frame.begin(), frame.end()); },
                .to_name_server = [this](std::string_view message,
                                         std::uint16_t) { questions_.emplace_back(message); }},
               names_,
               log_};
};

TEST_F(GateTest, AnswersWhereGatewayAndNameServerAre) {
    send(guest_arp(kGateway));
    send(guest_arp(kNameServer));
    ASSERT_EQ(to_guest_.size(), 2U);
    EXPECT_EQ(read_packet(to_guest_[0]).packet.from, kGateway);
    EXPECT_EQ(read_packet(to_guest_[0]).packet.from_mac, kGatewayMac);
    EXPECT_EQ(read_packet(to_guest_[1]).packet.from_mac, kNameServerMac);
    send(guest_arp(address(10, 0, 2, 77)));
    send(guest_arp(kGuestAddress, Address{}));  // whether anybody has its own address
    EXPECT_EQ(to_guest_.size(), 2U);
    EXPECT_TRUE(to_stack_.empty());
}

TEST_F(GateTest, LetsAConnectionThroughThatThePolicyOpens) {
    send(guest_tcp({.to = kWeb}));
    ASSERT_EQ(to_stack_.size(), 1U);
    answer(from_web(tcp_flag::kSyn | tcp_flag::kAck, 500, 1001));
    ASSERT_EQ(to_guest_.size(), 1U);
    send(guest_tcp(
        {.to = kWeb, .flags = tcp_flag::kAck, .sequence = 1001, .acknowledged = 501, .payload = "GET"}));
    EXPECT_EQ(to_stack_.size(), 2U);
    const auto rows = log();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_TRUE(rows[0].contact.allowed);
    EXPECT_EQ(rows[0].counts.connections, 1);
    EXPECT_EQ(rows[0].counts.sent, 3);
}

TEST_F(GateTest, RefusesAtOnceWhatThePolicyDoesNotOpen) {
    for (const auto to : {kGateway, kNameServer, address(169, 254, 169, 254), address(192, 168, 1, 1),
                          kHostLoopback, address(10, 0, 2, 15)}) {
        to_guest_.clear();
        send(guest_tcp({.to = to, .sequence = 9}));
        ASSERT_EQ(to_guest_.size(), 1U) << to_text(to);
        EXPECT_TRUE(last_to_guest().has(tcp_flag::kReset));
        EXPECT_EQ(last_to_guest().from, to);
        EXPECT_EQ(last_to_guest().acknowledged, 10U);
    }
    EXPECT_TRUE(to_stack_.empty());
    EXPECT_EQ(log().size(), 6U);
}

TEST_F(GateTest, ResetsWhatBelongsToNoConnection) {
    send(guest_tcp({.to = kWeb, .flags = tcp_flag::kAck, .acknowledged = 321, .payload = "old"}));
    ASSERT_EQ(to_guest_.size(), 1U);
    EXPECT_EQ(last_to_guest().flags, tcp_flag::kReset);
    EXPECT_EQ(last_to_guest().sequence, 321U);
    send(guest_tcp({.to = kWeb, .flags = tcp_flag::kReset}));
    send(guest_tcp({.to = kWeb, .flags = tcp_flag::kSyn | tcp_flag::kAck, .acknowledged = 5}));
    EXPECT_EQ(to_guest_.size(), 2U) << "a reset is not answered";
    EXPECT_TRUE(to_stack_.empty());
}

TEST_F(GateTest, ReachesTheHostsLoopbackByTranslation) {
    open({{kHostLoopback, 80}});
    send(guest_tcp({.to = kGateway}));
    ASSERT_EQ(to_stack_.size(), 1U);
    EXPECT_EQ(last_to_stack().to, kHostLoopback);
    EXPECT_TRUE(checksums_are_right(to_stack_.back()));
    answer(from_web(tcp_flag::kSyn | tcp_flag::kAck, 500, 1001, kHostLoopback));
    ASSERT_EQ(to_guest_.size(), 1U);
    EXPECT_EQ(last_to_guest().from, kGateway);
    EXPECT_TRUE(checksums_are_right(to_guest_.back()));
}

TEST_F(GateTest, LetsNobodyPretendToBeAnother) {
    auto frame = guest_tcp({.to = kWeb, .from = address(10, 0, 2, 16)});
    send(frame);
    send(guest_tcp({.to = kWeb, .from = address(8, 8, 8, 8)}));
    send(guest_tcp({.to = kWeb, .from = Address{}}));
    frame = guest_tcp({.to = kWeb});
    frame[11] ^= 1;  // another card
    send(frame);
    frame = guest_tcp({.to = kWeb});
    frame[0] ^= 2;  // to another card
    send(frame);
    frame = guest_tcp({.to = kWeb});
    std::fill(frame.begin(), frame.begin() + 6, 0xff);
    send(frame);
    EXPECT_TRUE(to_stack_.empty());
    EXPECT_TRUE(to_guest_.empty());
    EXPECT_EQ(gate_.dropped(), 6U);
}

TEST_F(GateTest, KeepsUrgentDataFromTheStack) {
    connect();
    auto frame = guest_tcp({.to = kWeb,
                            .flags = tcp_flag::kAck | tcp_flag::kUrgent,
                            .sequence = 1001,
                            .acknowledged = 501,
                            .payload = "!"});
    put_16(frame, 52, 1);
    fix_checksums(frame);
    send(frame);
    ASSERT_EQ(to_stack_.size(), 1U);
    EXPECT_FALSE(last_to_stack().has(tcp_flag::kUrgent));
    EXPECT_EQ(read_16(to_stack_.back(), 52), 0);
    EXPECT_TRUE(checksums_are_right(to_stack_.back()));
}

TEST_F(GateTest, CutsOffWhatANewPolicyDoesNotAllow) {
    connect();
    EXPECT_EQ(gate_.open_flows(), 1U);
    EXPECT_EQ(gate_.set_policy(Policy{{.mode = Mode::None, .allow = {}}, {}}), 1U);
    EXPECT_EQ(gate_.open_flows(), 0U);
    ASSERT_EQ(to_guest_.size(), 1U);
    EXPECT_TRUE(last_to_guest().has(tcp_flag::kReset));
    EXPECT_EQ(last_to_guest().sequence, 501U) << "the guest believes no other";
    ASSERT_EQ(to_stack_.size(), 1U);
    EXPECT_TRUE(last_to_stack().has(tcp_flag::kReset));
    EXPECT_EQ(last_to_stack().sequence, 1001U);
    answer(from_web(tcp_flag::kAck, 501, 1001));
    EXPECT_EQ(to_guest_.size(), 1U) << "what the stack still says is not for the guest";
    send(guest_tcp({.to = kWeb, .sequence = 5000}));
    EXPECT_EQ(to_stack_.size(), 1U);
}

TEST_F(GateTest, KeepsWhatANewPolicyStillAllows) {
    connect();
    open({{address(10, 1, 2, 3), 80}});
    EXPECT_EQ(gate_.open_flows(), 1U);
    EXPECT_TRUE(to_guest_.empty());
}

TEST_F(GateTest, BoundsTheConnections) {
    int refused = 0;
    for (std::size_t port = 0; port < FlowTable::kMostOpen + 10; ++port) {
        clock_.advance(10ms);  // not too fast
        to_guest_.clear();
        send(guest_tcp({.to = kWeb, .from_port = static_cast<std::uint16_t>(20000 + port)}));
        refused += to_guest_.empty() ? 0 : 1;
    }
    EXPECT_EQ(refused, 10);
    EXPECT_EQ(gate_.open_flows(), FlowTable::kMostOpen);
    // One that has long been idle gives way.
    clock_.advance(FlowTable::kMayGiveWay);
    to_guest_.clear();
    to_stack_.clear();
    send(guest_tcp({.to = kWeb, .from_port = 60000}));
    EXPECT_EQ(gate_.open_flows(), FlowTable::kMostOpen);
    EXPECT_EQ(last_to_stack().from_port, 60000);
}

TEST_F(GateTest, BoundsNewConnectionsInASecond) {
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
        to_guest_.clear();
        send(guest_tcp({.to = kWeb, .from_port = 30000}));
        send(guest_tcp({.to = kWeb, .from_port = 30000, .flags = tcp_flag::kReset}));
        refused += to_guest_.empty() ? 0 : 1;
    }
    EXPECT_EQ(refused, 2000 - static_cast<int>(Gate::kConnectBurst));
}

TEST_F(GateTest, ForgetsConnectionsThatAreOver) {
    connect();
    send(guest_tcp(
        {.to = kWeb, .flags = tcp_flag::kAck | tcp_flag::kFin, .sequence = 1001, .acknowledged = 501}));
    answer(from_web(tcp_flag::kAck | tcp_flag::kFin, 501, 1002));
    EXPECT_EQ(gate_.open_flows(), 0U);
    to_guest_.clear();
    send(guest_tcp({.to = kWeb, .flags = tcp_flag::kAck, .sequence = 1002, .acknowledged = 502}));
    EXPECT_TRUE(to_guest_.empty()) << "the last acknowledgement goes through";
    clock_.advance(FlowTable::kOverTime);
    gate_.expire();
    send(guest_tcp({.to = kWeb, .flags = tcp_flag::kAck, .sequence = 1002, .acknowledged = 502}));
    EXPECT_EQ(to_guest_.size(), 1U);
}

TEST_F(GateTest, TakesAPortAgainAfterItsConnectionIsOver) {
    connect();
    send(guest_tcp(
        {.to = kWeb, .flags = tcp_flag::kAck | tcp_flag::kFin, .sequence = 1001, .acknowledged = 501}));
    answer(from_web(tcp_flag::kAck | tcp_flag::kFin, 501, 1002));
    send(guest_tcp({.to = kWeb, .sequence = 9000}));
    EXPECT_EQ(gate_.open_flows(), 1U);
}

TEST_F(GateTest, EndsConnectionsThatNobodyAnswersOrUses) {
    send(guest_tcp({.to = kWeb}));
    clock_.advance(FlowTable::kUnansweredTime);
    gate_.expire();
    EXPECT_EQ(gate_.open_flows(), 0U);
    EXPECT_TRUE(last_to_guest().has(tcp_flag::kReset));
    connect();
    clock_.advance(FlowTable::kUnansweredTime);
    gate_.expire();
    EXPECT_EQ(gate_.open_flows(), 1U);
    clock_.advance(FlowTable::kIdleTime);
    gate_.expire();
    EXPECT_EQ(gate_.open_flows(), 0U);
}

TEST_F(GateTest, TakesOnlyWellFormedDhcp) {
    send(guest_dhcp(1));
    EXPECT_EQ(to_stack_.size(), 1U);
    const auto spoilt = [&](auto change) {
        auto message = dhcp_request(1);
        change(message);
        send(guest_udp({.to = kBroadcast,
                        .to_port = 67,
                        .from_port = 68,
                        .payload = message,
                        .from = {},
                        .to_mac = kEverybodyMac}));
    };
    spoilt([](std::string& m) { m.resize(200); });
    spoilt([](std::string& m) { m[0] = 2; });
    spoilt([](std::string& m) { m[30] ^= 1; });    // for another card
    spoilt([](std::string& m) { m[236] ^= 1; });   // BOOTP
    spoilt([](std::string& m) { m.pop_back(); });  // without an end
    spoilt([](std::string& m) { m[241] = 100; });  // an option that is longer than the message
    EXPECT_EQ(to_stack_.size(), 1U);
}

TEST_F(GateTest, GivesNamesToTheNameServerAndNoOtherUdpToAnybody) {
    send(guest_udp({.to = kNameServer, .payload = "question"}));
    EXPECT_EQ(questions_, std::vector<std::string>{"question"});
    send(guest_udp({.to = kWeb, .to_port = 443, .payload = "quic"}));
    send(guest_udp({.to = address(8, 8, 8, 8), .payload = "another name server"}));
    send(guest_udp({.to = kGateway, .to_port = 69, .payload = "tftp"}));
    EXPECT_EQ(to_guest_.size(), 3U);
    EXPECT_EQ(last_to_guest().icmp_code, 13);
    send(guest_udp({.to = address(224, 0, 0, 251), .to_port = 5353, .payload = "mdns"}));
    EXPECT_EQ(to_guest_.size(), 3U);
    EXPECT_TRUE(to_stack_.empty());
    send(guest_tcp({.to = kNameServer, .to_port = 53}));
    EXPECT_TRUE(last_to_guest().has(tcp_flag::kReset));
}

TEST_F(GateTest, AnswersPingsOfTheGatewayOnly) {
    send(guest_ping(kGateway));
    EXPECT_EQ(last_to_guest().icmp_type, 0);
    send(guest_ping(kWeb));
    EXPECT_EQ(last_to_guest().icmp_type, 3);
    EXPECT_TRUE(to_stack_.empty());
}

TEST_F(GateTest, LogsUnderTheNameThatTheDesktopWasTold) {
    names_.remember("example.org", {kWeb}, 60s);
    names_.told("example.org", kWeb);
    send(guest_tcp({.to = kWeb}));
    EXPECT_EQ(log().at(0).contact.name, "example.org");
}

}  // namespace
}  // namespace dormouse::net

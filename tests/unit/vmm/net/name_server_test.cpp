// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/name_server.h"

#include <gtest/gtest.h>

#include "guest_frames.h"

namespace dormouse::net {
namespace {

using namespace std::chrono_literals;
using Outcome = Resolved::Outcome;

const Address kWeb = address(93, 184, 216, 34);

class FakeResolver : public Resolver {
  public:
    void resolve(const std::string& name, Done done) override { asked.emplace_back(name, std::move(done)); }
    std::vector<std::pair<std::string, Done>> asked;
};

class NameServerTest : public ::testing::Test {
  protected:
    NameServerTest() { server_.set_policy(policy_); }

    void ask(std::string_view name, std::uint16_t type = dns_type::kA) {
        server_.handle(dns_query(name, type),
                       [this](std::string answer) { answers_.push_back(std::move(answer)); });
    }
    void resolve(Outcome outcome, std::vector<Address> addresses = {}, std::chrono::seconds lifetime = 60s) {
        const auto done = resolver_.asked.back().second;
        done({outcome, std::move(addresses), lifetime});
    }
    int status() const { return answers_.back()[3] & 15; }
    int count() const { return answers_.back()[7]; }

    ManualClock clock_;
    FakeResolver resolver_;
    NameCache cache_{clock_};
    DestinationLog log_{clock_, "test"};
    NameServer server_{clock_, resolver_, cache_, log_};
    Policy policy_{{.mode = Mode::Open, .allow = {}}, {}};
    std::vector<std::string> answers_;
};

TEST_F(NameServerTest, AnswersWithWhatTheHostResolves) {
    ask("Example.org");
    EXPECT_TRUE(answers_.empty());
    EXPECT_EQ(resolver_.asked.at(0).first, "example.org");
    resolve(Outcome::Found, {kWeb, address(93, 184, 216, 35)});
    EXPECT_EQ(status(), 0);
    EXPECT_EQ(count(), 2);
    EXPECT_EQ(cache_.names_of(kWeb).at(0), "example.org");
    ask("example.org");
    EXPECT_EQ(resolver_.asked.size(), 1U) << "known";
    clock_.advance(61s);
    ask("example.org");
    EXPECT_EQ(resolver_.asked.size(), 2U);
}

TEST_F(NameServerTest, AsksOnceForTheSameName) {
    ask("example.org");
    ask("EXAMPLE.org");
    EXPECT_EQ(resolver_.asked.size(), 1U);
    resolve(Outcome::Found, {kWeb});
    EXPECT_EQ(answers_.size(), 2U);
}

TEST_F(NameServerTest, TellsNoAddressThatThePolicyRefuses) {
    ask("rebind.example");
    resolve(Outcome::Found, {kWeb, address(169, 254, 169, 254), kHostLoopback});
    EXPECT_EQ(count(), 1);
    ask("inside.example");
    resolve(Outcome::Found, {address(10, 0, 0, 1)});
    EXPECT_EQ(status(), 3);
    const auto rows = log_.report()->rows;
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].contact.name, "inside.example");
    EXPECT_EQ(rows[0].contact.protocol, Protocol::Dns);
    EXPECT_EQ(rows[0].reason, "a private network (10.0.0.0/8)");
    ask("inside.example");  // from what is known, too
    EXPECT_EQ(status(), 3);
    EXPECT_TRUE(cache_.names_of(address(10, 0, 0, 1)).empty()) << "it was not told";
}

TEST_F(NameServerTest, PassesOnThatANameHasNothing) {
    ask("nobody.example");
    resolve(Outcome::NoSuchName);
    EXPECT_EQ(status(), 3);
    ask("empty.example");
    resolve(Outcome::NoAddress);
    EXPECT_EQ(status(), 0);
    EXPECT_EQ(count(), 0);
    ask("broken.example");
    resolve(Outcome::Failed);
    EXPECT_EQ(status(), 2);
}

TEST_F(NameServerTest, AnswersOtherTypesItself) {
    for (const std::uint16_t type :
         {dns_type::kAaaa, std::uint16_t{65}, std::uint16_t{33}, std::uint16_t{15}}) {
        ask("example.org", type);
        EXPECT_EQ(status(), 0) << type;
        EXPECT_EQ(count(), 0) << type;
    }
    for (const std::uint16_t type : {dns_type::kTxt, dns_type::kNull, dns_type::kAny}) {
        ask("example.org", type);
        EXPECT_EQ(status(), 5) << type;
    }
    ask("15.2.0.10.in-addr.arpa", dns_type::kPtr);
    EXPECT_EQ(status(), 3);
    for (const auto* name : {"127.0.0.1", "localhost", "a b.example"}) {
        ask(name);
        EXPECT_EQ(status(), 3) << name;
    }
    EXPECT_TRUE(resolver_.asked.empty());
}

TEST_F(NameServerTest, RefusesEverythingWhileTheNetworkIsOff) {
    const Policy none;
    server_.set_policy(none);
    ask("example.org");
    EXPECT_EQ(status(), 5);
    EXPECT_TRUE(resolver_.asked.empty());
    EXPECT_EQ(log_.report()->rows.at(0).contact.name, "example.org");
}

TEST_F(NameServerTest, HoldsBackWhatWasResolvedWhenTheNetworkWasSwitchedOffMeanwhile) {
    ask("example.org");
    const Policy none;
    server_.set_policy(none);
    resolve(Outcome::Found, {kWeb});
    EXPECT_EQ(status(), 3);
    EXPECT_EQ(count(), 0);
}

TEST_F(NameServerTest, BoundsQuestions) {
    for (std::size_t i = 0; i < NameServer::kMostOpen; ++i) ask("n" + std::to_string(i) + ".example");
    EXPECT_TRUE(answers_.empty());
    ask("one-more.example");
    EXPECT_EQ(status(), 2);
    for (int i = 0; i < 1000; ++i) ask("x.example", dns_type::kAaaa);
    EXPECT_EQ(status(), 5) << "too many in a second";
    clock_.advance(1s);
    ask("x.example", dns_type::kAaaa);
    EXPECT_EQ(status(), 0);
}

}  // namespace
}  // namespace dormouse::net

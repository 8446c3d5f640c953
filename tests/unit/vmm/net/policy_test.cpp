// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/policy.h"

#include <gtest/gtest.h>

namespace dormouse::net {
namespace {

const Address kPublic = address(93, 184, 216, 34);
const Address kOwn = address(198, 51, 100, 7);

Policy open_policy(std::vector<Exception> allow = {}) {
    return Policy{{.mode = Mode::Open, .allow = std::move(allow)}, {kOwn}};
}

TEST(Policy, AllowsNothingUntilItIsTold) {
    EXPECT_FALSE(Policy{}.decide({kPublic, 443, {}}).allowed);
}

TEST(Policy, OpensTheInternetAndNothingOfTheHost) {
    const auto policy = open_policy();
    EXPECT_TRUE(policy.decide({kPublic, 443, {}}).allowed);
    EXPECT_TRUE(policy.decide({address(203, 0, 113, 80), 80, {}}).allowed) << "mirrors may be there";
    EXPECT_TRUE(policy.decide({address(192, 0, 2, 1), 80, {}}).allowed);
    EXPECT_TRUE(policy.decide({address(198, 51, 100, 8), 80, {}}).allowed);
    for (const auto* text :
         {"0.0.0.0",     "0.1.2.3",         "10.0.0.1",       "10.0.2.2",        "10.0.2.3",
          "10.0.2.15",   "10.255.255.255",  "100.64.0.1",     "100.127.255.255", "127.0.0.1",
          "127.9.9.9",   "169.254.169.254", "172.16.0.1",     "172.31.255.255",  "192.0.0.1",
          "192.168.1.1", "198.18.0.1",      "198.19.255.255", "224.0.0.251",     "239.1.1.1",
          "240.0.0.1",   "255.255.255.255", "198.51.100.7"}) {
        const auto decision = policy.decide({*parse_address(text), 443, {}});
        EXPECT_FALSE(decision.allowed) << text;
        EXPECT_FALSE(decision.reason.empty()) << text;
        EXPECT_FALSE(policy.may_tell(*parse_address(text)).allowed) << text;
    }
    for (const auto* text : {"9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "128.0.0.1",
                             "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
                             "198.17.255.255", "198.20.0.0", "223.255.255.255"})
        EXPECT_TRUE(policy.decide({*parse_address(text), 443, {}}).allowed) << text;
}

TEST(Policy, SendsNoMailBetweenServers) {
    EXPECT_FALSE(open_policy().decide({kPublic, 25, {}}).allowed);
    EXPECT_TRUE(open_policy().decide({kPublic, 587, {}}).allowed);
    EXPECT_TRUE(open_policy({{kPublic, 25}}).decide({kPublic, 25, {}}).allowed);
}

TEST(Policy, OpensExceptionsExactly) {
    const auto policy = open_policy({{address(10, 1, 2, 3), 8080}});
    EXPECT_TRUE(policy.decide({address(10, 1, 2, 3), 8080, {}}).allowed);
    EXPECT_FALSE(policy.decide({address(10, 1, 2, 3), 8081, {}}).allowed);
    EXPECT_FALSE(policy.decide({address(10, 1, 2, 4), 8080, {}}).allowed);
    EXPECT_TRUE(policy.may_tell(address(10, 1, 2, 3)).allowed);
    EXPECT_FALSE(policy.may_tell(address(10, 1, 2, 4)).allowed);
}

TEST(Policy, ReachesTheHostsLoopbackThroughTheGatewayOnly) {
    const auto policy = open_policy({{kHostLoopback, 9000}});
    const auto decision = policy.decide({kGateway, 9000, {}});
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.connect_to, kHostLoopback);
    EXPECT_FALSE(policy.decide({kGateway, 9001, {}}).allowed);
    EXPECT_FALSE(policy.decide({kHostLoopback, 9000, {}}).allowed);
    EXPECT_FALSE(policy.may_tell(kHostLoopback).allowed);
}

TEST(Policy, OfNoneRefusesExceptionsToo) {
    const Policy policy{{.mode = Mode::None, .allow = {{kPublic, 443}, {kHostLoopback, 9000}}}, {}};
    EXPECT_FALSE(policy.decide({kPublic, 443, {}}).allowed);
    EXPECT_FALSE(policy.decide({kGateway, 9000, {}}).allowed);
    EXPECT_FALSE(policy.may_tell(kPublic).allowed);
}

TEST(Policy, ReadsExceptionsStrictly) {
    EXPECT_EQ(parse_exception("10.1.2.3:8080").value(), (Exception{address(10, 1, 2, 3), 8080}));
    EXPECT_EQ(to_text(parse_exception("127.0.0.1:1").value()), "127.0.0.1:1");
    for (const auto* text : {"", "10.1.2.3", "10.1.2.3:", "10.1.2.3:0", "10.1.2.3:65536", "10.1.2.3:80x",
                             "10.1.2:80", "10.1.2.3.4:80", "010.1.2.3:80", "10.1.2.256:80", " 10.1.2.3:80",
                             "host:80", "0x7f.0.0.1:80", "10.1.2.3:+80", "10.0.2.2:80"})
        EXPECT_FALSE(parse_exception(text)) << text;
}

TEST(Policy, HasModesWithNames) {
    EXPECT_EQ(parse_mode("open").value(), Mode::Open);
    EXPECT_EQ(parse_mode("none").value(), Mode::None);
    EXPECT_FALSE(parse_mode("Open"));
}

}  // namespace
}  // namespace dormouse::net

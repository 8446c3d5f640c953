// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/control_protocol.h"

#include <gtest/gtest.h>

namespace dormouse::net {
namespace {

TEST(ControlProtocol, CarriesAConfiguration) {
    const NetdConfig config{.id = "d-1",
                            .run_folder = "/run/x",
                            .policy = {.mode = Mode::Open, .allow = {{kHostLoopback, 9000}}},
                            .dns = "127.0.0.1:5353"};
    const auto read = parse_netd_config(to_json(config));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->run_folder, config.run_folder);
    EXPECT_EQ(read->policy, config.policy);
    EXPECT_EQ(read->dns, config.dns);
    for (const auto* text : {"", "[]", "{}", R"({"run_folder":"/x"})",
                             R"({"run_folder":"x","policy":{"mode":"open","allow":[]}})",
                             R"({"run_folder":"/x","policy":{"mode":"wide","allow":[]}})",
                             R"({"run_folder":"/x","policy":{"mode":"open"}})",
                             R"({"run_folder":"/x","policy":{"mode":"open","allow":["*:80"]}})"})
        EXPECT_FALSE(parse_netd_config(text)) << text;
}

TEST(ControlProtocol, CarriesMessagesBothWays) {
    const PolicySettings policy{.mode = Mode::None, .allow = {{address(10, 1, 2, 3), 80}}};
    EXPECT_EQ(std::get<SetPolicy>(parse_to_netd(to_line(ToNetd{SetPolicy{policy}})).value()).policy, policy);
    EXPECT_EQ(std::get<Flush>(parse_to_netd(to_line(ToNetd{Flush{7}})).value()).number, 7);
    EXPECT_EQ(std::get<Acknowledge>(parse_to_netd(to_line(ToNetd{Acknowledge{8}})).value()).sequence, 8);
    EXPECT_EQ(std::get<PolicySet>(parse_from_netd(to_line(FromNetd{PolicySet{Mode::Open, 3}})).value()).ended,
              3);
    EXPECT_EQ(std::get<Flushed>(parse_from_netd(to_line(FromNetd{Flushed{9}})).value()).number, 9);

    Report report{"me", 4, {}};
    report.rows.push_back({.contact = {"example.org", address(192, 0, 2, 1), 443, Protocol::Tcp, true},
                           .reason = "",
                           .first_at = WallTime{std::chrono::seconds{100}},
                           .last_at = WallTime{std::chrono::seconds{200}},
                           .counts = {1, 2, 3}});
    report.rows.push_back({.contact = {"inside.example", {}, 53, Protocol::Dns, false},
                           .reason = "loopback (127.0.0.0/8)",
                           .first_at = WallTime{std::chrono::seconds{100}},
                           .last_at = WallTime{std::chrono::seconds{100}},
                           .counts = {1, 0, 0}});
    const auto line = to_line(FromNetd{report});
    EXPECT_EQ(line.back(), '\n');
    const auto read = std::get<Report>(parse_from_netd(line).value());
    EXPECT_EQ(read.reporter, "me");
    EXPECT_EQ(read.sequence, 4);
    ASSERT_EQ(read.rows.size(), 2U);
    EXPECT_EQ(read.rows[0].contact.address, address(192, 0, 2, 1));
    EXPECT_EQ(read.rows[0].counts.received, 3);
    EXPECT_EQ(read.rows[0].last_at, WallTime{std::chrono::seconds{200}});
    EXPECT_EQ(read.rows[1].reason, "loopback (127.0.0.0/8)");
    EXPECT_FALSE(read.rows[1].contact.allowed);
}

// The network process may have been taken over by its guest.
TEST(ControlProtocol, BelievesNoRowsThatCannotBe) {
    const std::string good =
        R"("name":"a","address":"192.0.2.1","port":1,"protocol":"tcp","allowed":true,"reason":"","first_ms":1,"last_ms":1,"connections":1,"sent":0,"received":0)";
    const auto report = [](const std::string& row) {
        return R"({"type":"destinations","reporter":"x","sequence":1,"rows":[{)" + row + "}]}";
    };
    EXPECT_TRUE(parse_from_netd(report(good)));
    const auto replaced = [&](const std::string& from, const std::string& to) {
        auto text = good;
        text.replace(text.find(from), from.size(), to);
        return report(text);
    };
    for (const auto& line :
         {replaced("\"port\":1", "\"port\":65536"), replaced("\"port\":1", "\"port\":-1"),
          replaced("\"tcp\"", "\"sctp\""), replaced("192.0.2.1", "x"),
          replaced("\"connections\":1", "\"connections\":-1"), replaced("\"sent\":0", "\"sent\":1e300"),
          replaced("\"last_ms\":1", "\"last_ms\":9007199254740991"),
          replaced("\"name\":\"a\"", "\"name\":\"\\u001b[2J\""),
          replaced("\"name\":\"a\"", "\"name\":\"" + std::string(256, 'a') + "\"")})
        EXPECT_FALSE(parse_from_netd(line)) << line;
}

}  // namespace
}  // namespace dormouse::net

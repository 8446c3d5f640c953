// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/hostd/cli/command_line.h"

namespace dormouse::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

schema::Desktop with_network(std::string mode) {
    auto desktop = sample_desktop();
    desktop.network.mode = std::move(mode);
    return desktop;
}

TEST(NetworkVerb, ShowsAndChangesTheMode) {
    FakeDaemon daemon;
    daemon.answers(200, schema::to_json(with_network("open")));
    daemon.answers(200, schema::to_json(with_network("none")));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"network", "research"}), 0);
    EXPECT_EQ(dormouse.out, "open\n");
    EXPECT_EQ(dormouse({"network", "research", "none"}), 0);
    EXPECT_EQ(dormouse.out, "none\n");
    EXPECT_THAT(daemon.asked(), ElementsAre("GET /v1/desktops/research",
                                            R"(PATCH /v1/desktops/research {"network":{"mode":"none"}})"));
    EXPECT_NE(dormouse({"network", "research", "wide"}), 0);
    EXPECT_EQ(daemon.asked().size(), 2U);
}

TEST(NetworkVerb, IsChosenWhenADesktopIsMade) {
    FakeDaemon daemon;
    daemon.answers(201, schema::to_json(with_network("none")));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"create", "--network", "none"}), 0);
    schema::CreateDesktopRequest request;
    request.network = schema::Network{"none"};
    EXPECT_THAT(daemon.asked(), ElementsAre("POST /v1/desktops " + schema::to_json(request)));
}

TEST(DestinationsVerb, ShowsOneLineForEach) {
    FakeDaemon daemon;
    schema::DestinationEntry entry{.name = "example.org",
                                   .address = "192.0.2.1",
                                   .port = 443,
                                   .protocol = "tcp",
                                   .verdict = "allowed",
                                   .reason = "",
                                   .first_at = WallTime{std::chrono::seconds{1'700'000'000 - 7200}},
                                   .last_at = WallTime{std::chrono::seconds{1'700'000'000 - 180}},
                                   .connections = 3,
                                   .bytes_sent = 500,
                                   .bytes_received = 3 << 20};
    schema::DestinationList list{{entry}};
    entry.name = "inside.example\x1b[2J";
    entry.address.reset();
    entry.verdict = "refused";
    entry.reason = "loopback (127.0.0.0/8)";
    list.destinations.push_back(entry);
    daemon.answers(200, schema::to_json(list));
    CommandLineRun dormouse{daemon};
    EXPECT_EQ(dormouse({"destinations", "research"}), 0);
    EXPECT_THAT(
        dormouse.out,
        HasSubstr("example.org (192.0.2.1)  443   tcp       allowed  3      500 B  3.0 MiB   3 min ago"));
    EXPECT_THAT(dormouse.out, HasSubstr("loopback (127.0.0.0/8)"));
    EXPECT_EQ(dormouse.out.find('\x1b'), std::string::npos);
    EXPECT_EQ(dormouse({"destinations", "research", "--json"}), 0);
    EXPECT_EQ(dormouse.out, schema::to_json(list) + "\n");
}

}  // namespace
}  // namespace dormouse::cli

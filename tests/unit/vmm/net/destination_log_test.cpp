// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/destination_log.h"

#include <gtest/gtest.h>

namespace dormouse::net {
namespace {

Contact to(std::string name, Address address, std::uint16_t port = 443) {
    return {.name = std::move(name),
            .address = address,
            .port = port,
            .protocol = Protocol::Tcp,
            .allowed = true};
}

TEST(DestinationLog, MakesOneRowOfOneDestination) {
    ManualClock clock;
    DestinationLog log{clock, "me"};
    log.add(to("example.org", address(192, 0, 2, 1)), "", {1, 10, 20});
    clock.advance(std::chrono::seconds{5});
    log.add(to("example.org", address(192, 0, 2, 2)), "", {1, 1, 2});
    log.add(to("", address(192, 0, 2, 2)), "", {1, 0, 0});
    log.add(to("example.org", address(192, 0, 2, 1), 80), "", {1, 0, 0});
    const auto report = log.report();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->reporter, "me");
    ASSERT_EQ(report->rows.size(), 3U);
    const auto& row = report->rows[2];  // sorted by name, then port
    EXPECT_EQ(row.contact.name, "example.org");
    EXPECT_EQ(row.contact.address, address(192, 0, 2, 2));
    EXPECT_EQ(row.counts.connections, 2);
    EXPECT_EQ(row.counts.received, 22);
    EXPECT_EQ(row.last_at - row.first_at, std::chrono::seconds{5});
}

TEST(DestinationLog, RepeatsAReportUntilItIsAcknowledged) {
    ManualClock clock;
    DestinationLog log{clock, "me"};
    log.add(to("a", {}), "", {1, 0, 0});
    const auto first = log.report();
    log.add(to("a", {}), "", {5, 0, 0});
    EXPECT_EQ(log.report()->sequence, first->sequence);
    EXPECT_EQ(log.report()->rows.at(0).counts.connections, 1);
    log.acknowledge(first->sequence - 1);
    EXPECT_EQ(log.report()->sequence, first->sequence);
    log.acknowledge(first->sequence);
    const auto second = log.report();
    EXPECT_EQ(second->sequence, first->sequence + 1);
    EXPECT_EQ(second->rows.at(0).counts.connections, 5);
    log.acknowledge(second->sequence);
    EXPECT_FALSE(log.report());
    EXPECT_TRUE(log.empty());
}

TEST(DestinationLog, CountsTheRestAsOneWhenThereAreTooMany) {
    ManualClock clock;
    DestinationLog log{clock, "me"};
    for (std::uint32_t i = 0; i < DestinationLog::kMostRows + 100; ++i)
        log.add(to("", Address{i + 1}), "", {1, 0, 0});
    std::size_t rows = 0;
    std::int64_t connections = 0;
    bool others = false;
    while (const auto report = log.report()) {
        EXPECT_LE(report->rows.size(), DestinationLog::kRowsInReport);
        rows += report->rows.size();
        for (const auto& row : report->rows) {
            connections += row.counts.connections;
            others = others || row.contact.name == "(others)";
        }
        log.acknowledge(report->sequence);
    }
    EXPECT_EQ(rows, DestinationLog::kMostRows + 1);
    EXPECT_EQ(connections, static_cast<std::int64_t>(DestinationLog::kMostRows) + 100);
    EXPECT_TRUE(others);
}

}  // namespace
}  // namespace dormouse::net

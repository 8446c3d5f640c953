// SPDX-License-Identifier: Apache-2.0
#include "db/destination_store.h"

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace dormouse::db {
namespace {

using namespace std::chrono_literals;

class DestinationStoreTest : public ::testing::Test {
  protected:
    DestinationStoreTest() {
        database_ = std::move(*Database::open(folder_.path() / "db"));
        store_.emplace(std::move(*DestinationStore::open(*database_)));
    }
    static DestinationRow row(std::string name, std::string address, WallTime at) {
        return {.name = std::move(name),
                .address = std::move(address),
                .port = 443,
                .protocol = "tcp",
                .verdict = "allowed",
                .reason = "",
                .first_at = at,
                .last_at = at,
                .connections = 1,
                .bytes_sent = 10,
                .bytes_received = 100};
    }

    TemporaryFolder folder_;
    std::unique_ptr<Database> database_;
    std::optional<DestinationStore> store_;
    const DesktopId desktop_ = DesktopId::parse("d-1").value();
};

TEST_F(DestinationStoreTest, AddsReportsUp) {
    const WallTime early{1000s};
    const WallTime late{2000s};
    ASSERT_TRUE(store_->add(desktop_, {"a", 1, {row("example.org", "192.0.2.1", early)}}));
    ASSERT_TRUE(store_->add(desktop_,
                            {"a", 2, {row("example.org", "192.0.2.2", late), row("", "192.0.2.2", early)}}));
    const auto rows = store_->list(desktop_).value();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].name, "example.org");
    EXPECT_EQ(rows[0].address, "192.0.2.2");
    EXPECT_EQ(rows[0].first_at, early);
    EXPECT_EQ(rows[0].last_at, late);
    EXPECT_EQ(rows[0].connections, 2);
    EXPECT_EQ(rows[0].bytes_received, 200);
    EXPECT_EQ(rows[1].name, "");
}

TEST_F(DestinationStoreTest, CountsAReportThatComesAgainOnce) {
    const DestinationReport report{"a", 7, {row("example.org", "192.0.2.1", WallTime{1s})}};
    ASSERT_TRUE(store_->add(desktop_, report));
    ASSERT_TRUE(store_->add(desktop_, report));
    EXPECT_EQ(store_->list(desktop_).value().at(0).connections, 1);
    // A new process begins to count anew.
    ASSERT_TRUE(store_->add(desktop_, {"b", 1, report.rows}));
    EXPECT_EQ(store_->list(desktop_).value().at(0).connections, 2);
}

TEST_F(DestinationStoreTest, ForgetsTheOldestOfTooMany) {
    DestinationReport report{"a", 1, {}};
    for (int i = 0; i < DestinationStore::kMostRows + 10; ++i)
        report.rows.push_back(row("n" + std::to_string(i), "192.0.2.1", WallTime{std::chrono::seconds{i}}));
    ASSERT_TRUE(store_->add(desktop_, report));
    const auto rows = store_->list(desktop_).value();
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(DestinationStore::kMostRows));
    EXPECT_EQ(rows.back().name, "n10");
}

TEST_F(DestinationStoreTest, RemovesThoseOfOneDesktop) {
    const auto other = DesktopId::parse("d-2").value();
    ASSERT_TRUE(store_->add(desktop_, {"a", 1, {row("x", "192.0.2.1", WallTime{1s})}}));
    ASSERT_TRUE(store_->add(other, {"b", 1, {row("x", "192.0.2.1", WallTime{1s})}}));
    ASSERT_TRUE(store_->remove(desktop_));
    EXPECT_TRUE(store_->list(desktop_).value().empty());
    EXPECT_EQ(store_->list(other).value().size(), 1U);
}

}  // namespace
}  // namespace dormouse::db

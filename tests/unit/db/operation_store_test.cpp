// SPDX-License-Identifier: Apache-2.0
#include "db/operation_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/counter_store.h"
#include "temporary_folder.h"

namespace dormouse::db {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr WallTime kNoon{1'700'000'000'000ms};

OperationRow row(const std::string& id) {
    return {.id = id,
            .kind = "template.build",
            .token = "t-1",
            .desktop = {},
            .image = "office",
            .state = "running",
            .step = "",
            .error_code = {},
            .error = {},
            .hint = {},
            .created_at = kNoon,
            .finished_at = {}};
}

TEST(OperationStore, RemembersTheBeginningAndTheEnd) {
    const TemporaryFolder folder;
    const auto database = std::move(*Database::open(folder / "dormouse.db"));
    auto store = std::move(*OperationStore::open(*database));
    auto first = row("op-1");
    ASSERT_TRUE(store.put(first));
    ASSERT_TRUE(store.put(row("op-2")));
    first.state = "failed";
    first.error_code = "io";
    first.error = "no space";
    first.hint = "";
    first.finished_at = kNoon + 1s;
    ASSERT_TRUE(store.put(first));
    EXPECT_THAT(*store.list(), ElementsAre(first, row("op-2")));
    ASSERT_TRUE(store.remove_old(kNoon + 2s));
    EXPECT_THAT(*store.list(), ElementsAre(row("op-2"))) << "what runs stays";
}

TEST(CounterStore, NeverGivesANumberTwice) {
    const TemporaryFolder folder;
    const auto open = [&] { return std::move(*Database::open(folder / "dormouse.db")); };
    auto database = open();
    {
        auto store = std::move(*CounterStore::open(*database));
        EXPECT_EQ(*store.reserve("events", 100, 10), 100);
        EXPECT_EQ(*store.reserve("events", 50, 10), 110) << "also when the clock has gone back";
        EXPECT_EQ(*store.reserve("other", 1, 1), 1);
    }
    database.reset();
    database = open();
    auto store = std::move(*CounterStore::open(*database));
    EXPECT_EQ(*store.reserve("events", 0, 10), 120);
    EXPECT_EQ(*store.reserve("events", 1000, 10), 1000);
}

}  // namespace
}  // namespace dormouse::db

// SPDX-License-Identifier: Apache-2.0
#include "db/audit_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/store_thread.h"
#include "hostd/base/event_loop.h"
#include "temporary_folder.h"

namespace dormouse::db {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

AuditRow entry(int second, std::optional<std::string> desktop, std::string outcome, std::int64_t number = 0) {
    return {.at = WallTime{std::chrono::seconds{1'700'000'000 + second}},
            .token = "t-1",
            .desktop = std::move(desktop),
            .command = "desktop.act",
            .outcome = std::move(outcome),
            .detail = "3 actions",
            .duration = 120ms,
            .number = number};
}

TEST(AuditStore, GivesTheNewestFirstUpToTheLimit) {
    const TemporaryFolder folder;
    auto database = std::move(*Database::open(folder / "dormouse.db"));
    auto store = std::move(*AuditStore::open(*database));
    EXPECT_THAT(*store.newest(10), IsEmpty());
    const auto first = entry(0, "d-1", "ok", 1);
    const auto second = entry(0, std::nullopt, "denied", 2);  // the same time: the order is that of writing
    const auto third = entry(-5, "", "not_found", 3);         // a clock that went back does not matter either
    for (const auto& row : {first, second, third}) ASSERT_TRUE(store.append(row));
    EXPECT_THAT(*store.newest(10), ElementsAre(third, second, first));
    EXPECT_THAT(*store.newest(2), ElementsAre(third, second));
    EXPECT_THAT(*store.newest(0), IsEmpty());
    EXPECT_THAT(*store.newest(-1), IsEmpty());
}

TEST(AuditStore, FindsByEachFilterAndByAll) {
    const TemporaryFolder folder;
    auto database = std::move(*Database::open(folder / "dormouse.db"));
    auto store = std::move(*AuditStore::open(*database));
    auto get = entry(2, "d-2", "ok");
    get.command = "desktop.get";
    get.token = "t-2";
    for (const auto& row : {entry(0, "d-1", "ok"), entry(1, "d-1", "denied"), get})
        ASSERT_TRUE(store.append(row));
    const auto found = [&](const AuditFilter& filter) {
        std::vector<std::int64_t> numbers;
        const auto rows = store.query(filter, 100).value();
        for (const auto& row : rows) numbers.push_back(row.number);
        return numbers;
    };
    const auto at = [](int second) { return WallTime{std::chrono::seconds{1'700'000'000 + second}}; };
    EXPECT_THAT(found({}), ElementsAre(3, 2, 1));
    EXPECT_THAT(found({.token = "t-2"}), ElementsAre(3));
    EXPECT_THAT(found({.desktop = "d-1"}), ElementsAre(2, 1));
    EXPECT_THAT(found({.command = "desktop.get"}), ElementsAre(3));
    EXPECT_THAT(found({.command = "desktop."}), ElementsAre(3, 2, 1));
    EXPECT_THAT(found({.command = "desktop"}), IsEmpty());
    EXPECT_THAT(found({.command = "%"}), IsEmpty());
    EXPECT_THAT(found({.outcome = "denied"}), ElementsAre(2));
    EXPECT_THAT(found({.outcome = "failed"}), ElementsAre(2));
    EXPECT_THAT(found({.since = at(1)}), ElementsAre(3, 2));
    EXPECT_THAT(found({.until = at(1)}), ElementsAre(1));
    EXPECT_THAT(found({.before = 3}), ElementsAre(2, 1));
    EXPECT_THAT(found({.token = "t-1",
                       .desktop = "d-1",
                       .command = "desktop.",
                       .outcome = "ok",
                       .since = at(0),
                       .until = at(9),
                       .before = 9}),
                ElementsAre(1));
}

TEST(AuditStore, CountsUpAndForgetsTheOld) {
    const TemporaryFolder folder;
    auto database = std::move(*Database::open(folder / "dormouse.db"));
    auto store = std::move(*AuditStore::open(*database));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(*store.append(entry(i, "d-1", "ok")), i + 1);
    const auto last = WallTime{std::chrono::seconds{1'700'000'100}};
    ASSERT_TRUE(store.repeat(6, 4, last));
    ASSERT_TRUE(store.repeat(6, 1, last));
    EXPECT_EQ(store.newest(1)->front().count, 6);
    EXPECT_EQ(store.newest(1)->front().last_at, last);
    EXPECT_EQ(*store.prune(WallTime{std::chrono::seconds{1'700'000'002}}, 1000, 1), 1) << "so many at once";
    EXPECT_EQ(*store.prune(WallTime{std::chrono::seconds{1'700'000'002}}, 1000, 100), 1);
    EXPECT_EQ(*store.prune(WallTime{}, 3, 100), 1) << "all but the newest three";
    EXPECT_EQ(store.newest(100)->size(), 3u);
    EXPECT_TRUE(store.repeat(1, 1, last)) << "one that is gone is fine";
}

TEST(StoreThread, RunsWhatIsPostedInOrderAndAnswersOnTheLoop) {
    const TemporaryFolder folder;
    auto database = std::move(*Database::open(folder / "dormouse.db"));
    auto store = std::move(*AuditStore::open(*database));
    const SystemClock clock;
    EventLoop loop{clock};
    StoreThread thread;
    const auto both = [](StoreThread& on, EventLoop& core, AuditStore& audit) -> Task<std::vector<AuditRow>> {
        for (int i = 0; i < 3; ++i) {
            auto job = run_on(on, core, [&audit, i] { return audit.append(entry(i, "d-1", "ok")); });
            const auto written = co_await std::move(job);
            EXPECT_TRUE(written);
        }
        auto reading = run_on(on, core, [&audit] { return audit.newest(10); });
        auto rows = co_await std::move(reading);
        co_return *rows;
    };
    const auto rows = loop.run_until_complete(both(thread, loop, store));
    EXPECT_THAT(rows,
                ElementsAre(entry(2, "d-1", "ok", 3), entry(1, "d-1", "ok", 2), entry(0, "d-1", "ok", 1)));
}

}  // namespace
}  // namespace dormouse::db

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

AuditRow entry(int second, std::optional<std::string> desktop, std::string outcome) {
    return {.at = WallTime{std::chrono::seconds{1'700'000'000 + second}},
            .token = "t-1",
            .desktop = std::move(desktop),
            .command = "desktop.act",
            .outcome = std::move(outcome),
            .detail = "3 actions",
            .duration = 120ms};
}

TEST(AuditStore, GivesTheNewestFirstUpToTheLimit) {
    const TemporaryFolder folder;
    auto database = std::move(*Database::open(folder / "dormouse.db"));
    auto store = std::move(*AuditStore::open(*database));
    EXPECT_THAT(*store.newest(10), IsEmpty());
    const auto first = entry(0, "d-1", "ok");
    const auto second = entry(0, std::nullopt, "denied");  // the same time: the order is that of writing
    const auto third = entry(-5, "", "not_found");         // a clock that went back does not matter either
    for (const auto& row : {first, second, third}) ASSERT_TRUE(store.append(row));
    EXPECT_THAT(*store.newest(10), ElementsAre(third, second, first));
    EXPECT_THAT(*store.newest(2), ElementsAre(third, second));
    EXPECT_THAT(*store.newest(0), IsEmpty());
    EXPECT_THAT(*store.newest(-1), IsEmpty());
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
    EXPECT_THAT(rows, ElementsAre(entry(2, "d-1", "ok"), entry(1, "d-1", "ok"), entry(0, "d-1", "ok")));
}

}  // namespace
}  // namespace dormouse::db

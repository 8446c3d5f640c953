// SPDX-License-Identifier: Apache-2.0
#include "db/desktop_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace dormouse::db {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr WallTime kNoon{1'700'000'000'123ms};

DesktopRow row(const std::string& id, const std::string& name) {
    return {.id = *DesktopId::parse(id),
            .name = *DesktopName::parse(name),
            .image = *TemplateName::parse("desktop"),
            .template_hash = "abc123",
            .state = "creating",
            .reason = {},
            .vm_uuid = "3f0c",
            .memory_mib = 2048,
            .cpus = 2,
            .screen_width = 1280,
            .screen_height = 800,
            .accelerator = "tcg",
            .created_at = kNoon,
            .started_at = {},
            .exit_status = {},
            .exit_output = {}};
}

class DesktopStoreTest : public testing::Test {
  protected:
    TemporaryFolder folder;
    std::unique_ptr<Database> database = std::move(*Database::open(folder / "dormouse.db"));
    DesktopStore store = std::move(*DesktopStore::open(*database));
};

TEST_F(DesktopStoreTest, GivesBackWhatWasInsertedByIdAndByName) {
    auto full = row("d-1", "work");
    full.reason = "it broke";
    full.started_at = kNoon + 5s;
    full.exit_status = "signal 9 (Killed)";
    full.exit_output = R"(["line 1","naïve 🦔"])";
    full.labels = {{"team", "a=b"}, {"empty", ""}};
    full.updated_at = kNoon + 7s;
    full.created_by = "t-1";
    ASSERT_TRUE(store.insert(full));
    EXPECT_EQ(*store.find("d-1"), full);
    EXPECT_EQ(*store.find("work"), full);
    ASSERT_TRUE(store.insert(row("d-2", "play")));
    EXPECT_EQ(*store.find("play"), row("d-2", "play"));
}

TEST_F(DesktopStoreTest, SaysWhichDesktopIsNotThere) {
    const auto missing = store.find("nope");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::NotFound);
    EXPECT_EQ(missing.error().message, "there is no desktop 'nope'");
    EXPECT_FALSE(store.find("'; DROP TABLE desktops; --"));
    EXPECT_TRUE(store.list());
}

TEST_F(DesktopStoreTest, RefusesANameThatIsTakenAndHelps) {
    ASSERT_TRUE(store.insert(row("d-1", "work")));
    const auto refused = store.insert(row("d-2", "work"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Conflict);
    EXPECT_EQ(refused.error().message, "there is already a desktop 'work' (id d-1)");
    EXPECT_THAT(refused.error().hint, HasSubstr("another name"));
    EXPECT_EQ(store.list()->size(), 1u);
}

TEST_F(DesktopStoreTest, RefusesANameThatIsTheIdOfAnother) {
    ASSERT_TRUE(store.insert(row("d-1", "work")));
    EXPECT_EQ(store.insert(row("d-2", "d-1")).error().code, Errc::Conflict);
    EXPECT_EQ(store.insert(row("work", "other")).error().code, Errc::Conflict);
    EXPECT_EQ(store.insert(row("d-1", "other")).error().code, Errc::Conflict);
}

TEST_F(DesktopStoreTest, ListsTheOldestFirst) {
    auto young = row("d-1", "young");
    young.created_at = kNoon + 1h;
    ASSERT_TRUE(store.insert(young));
    ASSERT_TRUE(store.insert(row("d-2", "old")));
    const auto rows = *store.list();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].name.str(), "old");
    EXPECT_EQ(rows[1].name.str(), "young");
}

TEST_F(DesktopStoreTest, AStateChangeKeepsTheStartTimeAndReplacesTheRest) {
    const auto id = *DesktopId::parse("d-1");
    ASSERT_TRUE(store.insert(row("d-1", "work")));
    ASSERT_TRUE(store.update_state(id, {.state = "running",
                                        .reason = {},
                                        .started_at = kNoon + 1min,
                                        .exit_status = {},
                                        .exit_output = {}}));
    ASSERT_TRUE(store.update_state(id, {.state = "failed",
                                        .reason = "QEMU ended",
                                        .started_at = {},
                                        .exit_status = "exit 1",
                                        .exit_output = "[]"}));
    auto found = *store.find("d-1");
    EXPECT_EQ(found.state, "failed");
    EXPECT_EQ(found.reason, "QEMU ended");
    EXPECT_EQ(found.started_at, kNoon + 1min);
    EXPECT_EQ(found.exit_status, "exit 1");
    ASSERT_TRUE(store.update_state(
        id, {.state = "starting", .reason = {}, .started_at = {}, .exit_status = {}, .exit_output = {}}));
    found = *store.find("d-1");
    EXPECT_FALSE(found.reason);
    EXPECT_FALSE(found.exit_status);
    EXPECT_FALSE(found.exit_output);
}

TEST_F(DesktopStoreTest, AnUpdateOverwritesAllThatMayChange) {
    auto changed = row("d-1", "work");
    ASSERT_TRUE(store.insert(changed));
    changed.state = "running";
    changed.template_hash = "def";
    changed.vm_uuid = "77";
    changed.memory_mib = 4096;
    changed.cpus = 4;
    changed.screen_width = 1920;
    changed.screen_height = 1080;
    changed.accelerator = "kvm";
    changed.started_at = kNoon;
    ASSERT_TRUE(store.update(changed));
    EXPECT_EQ(*store.find("d-1"), changed);
}

TEST_F(DesktopStoreTest, NameAndLabelsChangeByThemselves) {
    auto changed = row("d-1", "work");
    ASSERT_TRUE(store.insert(changed));
    ASSERT_TRUE(store.insert(row("d-2", "play")));
    changed.name = *DesktopName::parse("shop");
    changed.labels = {{"team", "a"}};
    changed.updated_at = kNoon + 1s;
    ASSERT_TRUE(store.describe(changed.id, changed.name, changed.labels, changed.updated_at));
    EXPECT_EQ(*store.find("shop"), changed);
    // What was read before knows another name: it does not come back with the rest.
    auto stale = row("d-1", "work");
    stale.state = "running";
    stale.updated_at = changed.updated_at;
    ASSERT_TRUE(store.update(stale));
    EXPECT_EQ(store.find("shop")->labels, changed.labels);
    EXPECT_EQ(store.find("shop")->state, "running");
    for (const auto* taken : {"play", "d-2"})
        EXPECT_EQ(store.describe(changed.id, *DesktopName::parse(taken), {}, kNoon).error().code,
                  Errc::Conflict);
    EXPECT_TRUE(store.describe(changed.id, *DesktopName::parse("d-1"), {}, kNoon)) << "its own id";
    EXPECT_EQ(store.describe(*DesktopId::parse("d-3"), *DesktopName::parse("x"), {}, kNoon).error().code,
              Errc::NotFound);
}

TEST_F(DesktopStoreTest, RemovesOnceAndSaysSoTheSecondTime) {
    const auto id = *DesktopId::parse("d-1");
    ASSERT_TRUE(store.insert(row("d-1", "work")));
    EXPECT_TRUE(store.remove(id));
    EXPECT_EQ(store.remove(id).error().code, Errc::NotFound);
    EXPECT_EQ(
        store
            .update_state(
                id, {.state = "failed", .reason = {}, .started_at = {}, .exit_status = {}, .exit_output = {}})
            .error()
            .code,
        Errc::NotFound);
    EXPECT_EQ(store.update(row("d-1", "work")).error().code, Errc::NotFound);
    EXPECT_THAT(*store.list(), IsEmpty());
    EXPECT_TRUE(store.insert(row("d-2", "work")));
}

TEST_F(DesktopStoreTest, ARowThatSomebodySpoiledIsCorruptNotTrusted) {
    ASSERT_TRUE(store.insert(row("d-1", "work")));
    ASSERT_TRUE(database->execute("UPDATE desktops SET id = '../../etc'"));
    const auto found = store.find("work");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Errc::Corrupt);
    EXPECT_EQ(store.list().error().code, Errc::Corrupt);
}

}  // namespace
}  // namespace dormouse::db

// SPDX-License-Identifier: Apache-2.0
#include "db/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "db/audit_store.h"
#include "db/desktop_store.h"
#include "hostd/base/file.h"
#include "temporary_folder.h"

namespace dormouse::db {
namespace {

using testing::HasSubstr;

unsigned mode_of(const std::filesystem::path& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
}

DesktopRow row(const std::string& name) {
    return {.id = *DesktopId::parse("d-" + name),
            .name = *DesktopName::parse(name),
            .image = *TemplateName::parse("desktop"),
            .template_hash = std::string(200, 'h'),
            .state = "running",
            .reason = {},
            .vm_uuid = "u",
            .accelerator = "tcg",
            .created_at = WallTime{std::chrono::seconds{1}},
            .started_at = {},
            .exit_status = {},
            .exit_output = {}};
}

// Fills some hundred pages, so that there is something to damage.
void fill(const std::filesystem::path& file) {
    auto database = Database::open(file);
    ASSERT_TRUE(database) << database.error().message;
    auto audit = std::move(*AuditStore::open(**database));
    auto transaction = (*database)->begin();
    ASSERT_TRUE(transaction);
    for (int i = 0; i < 400; ++i)
        ASSERT_TRUE(audit.append({.at = {}, .token = "t", .desktop = {}, .detail = std::string(500, 'x')}));
    ASSERT_TRUE(transaction->commit());
}

TEST(Database, IsMadeWithItsSchemaAndForItsOwnerOnly) {
    const TemporaryFolder folder;
    const auto file = folder / "dormouse.db";
    const auto database = Database::open(file);
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_EQ(*(*database)->schema_version(), migrations().back().version);
    EXPECT_EQ(mode_of(file), 0600u);
    EXPECT_EQ(mode_of(file.string() + "-wal"), 0600u);
}

TEST(Database, TakesReadPermissionFromOthers) {
    const TemporaryFolder folder;
    const auto file = folder / "dormouse.db";
    ASSERT_TRUE(Database::open(file));
    ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
    ASSERT_TRUE(Database::open(file));
    EXPECT_EQ(mode_of(file), 0600u);
}

TEST(Database, KeepsWhatWasWrittenAndCanBeOpenedAgain) {
    const TemporaryFolder folder;
    const auto file = folder / "dormouse.db";
    {
        auto database = Database::open(file);
        ASSERT_TRUE(DesktopStore::open(**database)->insert(row("one")));
    }
    auto database = Database::open(file);
    ASSERT_TRUE(database);
    EXPECT_TRUE(DesktopStore::open(**database)->find("one"));
}

TEST(Transaction, TakesAllBackUnlessCommitted) {
    const TemporaryFolder folder;
    auto database = std::move(*Database::open(folder / "dormouse.db"));
    auto audit = std::move(*AuditStore::open(*database));
    {
        auto transaction = database->begin();
        ASSERT_TRUE(transaction);
        ASSERT_TRUE(audit.append({}));
    }
    EXPECT_EQ(audit.newest(10)->size(), 0u);
    {
        auto transaction = database->begin();
        ASSERT_TRUE(transaction);
        ASSERT_TRUE(audit.append({}));
        ASSERT_TRUE(transaction->commit());
    }
    EXPECT_EQ(audit.newest(10)->size(), 1u);
}

TEST(Database, EnforcesForeignKeys) {
    const TemporaryFolder folder;
    auto database = std::move(*Database::open(folder / "dormouse.db"));
    ASSERT_TRUE(
        database->execute("CREATE TABLE a (n INTEGER PRIMARY KEY); CREATE TABLE b (n INTEGER REFERENCES a)"));
    EXPECT_EQ(database->execute("INSERT INTO b VALUES (7)").error().code, Errc::Conflict);
}

// ---- migrations

TEST(Migrations, AreNumberedFromOneWithoutGaps) {
    int expected = 1;
    for (const auto& migration : migrations()) {
        EXPECT_EQ(migration.version, expected++);
        EXPECT_FALSE(migration.sql.empty());
    }
}

TEST(Migrations, LeadFromEveryEarlierVersionToTheNewest) {
    for (std::size_t known = 0; known <= migrations().size(); ++known) {
        const TemporaryFolder folder;
        const auto file = folder / "dormouse.db";
        ASSERT_TRUE(Database::open_with(file, migrations().first(known)));
        const auto database = Database::open(file);
        ASSERT_TRUE(database) << "from version " << known << ": " << database.error().message;
        EXPECT_EQ(*(*database)->schema_version(), migrations().back().version);
    }
}

TEST(Migrations, KeepTheDataOfTheVersionBefore) {
    const TemporaryFolder folder;
    const auto file = folder / "dormouse.db";
    const Migration first{1, "CREATE TABLE things (n INTEGER); INSERT INTO things VALUES (1)"};
    const Migration second{2, "ALTER TABLE things ADD COLUMN m INTEGER NOT NULL DEFAULT 5"};
    const std::vector both{first, second};
    ASSERT_TRUE(Database::open_with(file, std::span{both}.first(1)));
    const auto database = Database::open_with(file, both);
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_EQ(*(*database)->schema_version(), 2);
    EXPECT_TRUE((*database)->execute("UPDATE things SET m = n"));
}

TEST(Migrations, OneThatFailsLeavesTheVersionBefore) {
    const TemporaryFolder folder;
    const auto file = folder / "dormouse.db";
    const std::vector<Migration> broken{
        {1, "CREATE TABLE things (n INTEGER)"},
        {2, "CREATE TABLE more (n INTEGER); DROP TABLE things; this is not SQL"}};
    const auto failed = Database::open_with(file, broken);
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message, HasSubstr("from version 1 to 2"));
    const auto before = Database::open_with(file, std::span{broken}.first(1));
    ASSERT_TRUE(before) << before.error().message;
    EXPECT_EQ(*(*before)->schema_version(), 1);
    EXPECT_TRUE((*before)->execute("INSERT INTO things VALUES (1)"));
    EXPECT_FALSE((*before)->execute("INSERT INTO more VALUES (1)"));
}

TEST(Migrations, ASchemaFromTheFutureIsRefusedAndLeftAlone) {
    const TemporaryFolder folder;
    const auto file = folder / "dormouse.db";
    ASSERT_TRUE((*Database::open(file))->execute("PRAGMA user_version=99"));
    const auto bytes = *read_file(file);
    const auto refused = Database::open(file);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Conflict);
    EXPECT_THAT(refused.error().message, HasSubstr("newer Dormouse (schema 99"));
    EXPECT_FALSE(refused.error().hint.empty());
    EXPECT_EQ(*read_file(file), bytes);
}

// ---- damage

TEST(DamagedDatabase, AFileOfSomethingElseIsRefused) {
    const TemporaryFolder folder;
    const auto file = folder / "dormouse.db";
    ASSERT_TRUE(write_file_atomic(file, std::string(8192, 'x')));
    const auto refused = Database::open(file);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Corrupt);
    EXPECT_THAT(refused.error().message, HasSubstr(file.string()));
    EXPECT_FALSE(refused.error().hint.empty());
    EXPECT_EQ(*read_file(file), std::string(8192, 'x'));
}

TEST(DamagedDatabase, TheDatabaseOfAnotherProgramIsRefused) {
    const TemporaryFolder folder;
    const auto file = folder / "dormouse.db";
    ASSERT_TRUE((*Database::open_with(file, {}))->execute("CREATE TABLE bookmarks (url TEXT)"));
    const auto refused = Database::open(file);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Corrupt);
    EXPECT_THAT(refused.error().message, HasSubstr("not one of Dormouse's"));
}

TEST(DamagedDatabase, ATruncatedFileIsNoticedWhereverItIsCut) {
    const TemporaryFolder folder;
    const auto whole = folder / "whole.db";
    fill(whole);
    const auto bytes = *read_file(whole);
    ASSERT_GT(bytes.size(), 100'000u);
    for (const std::size_t size :
         {std::size_t{50}, std::size_t{4096}, std::size_t{5000}, bytes.size() / 2, bytes.size() - 4096}) {
        const auto file = folder / fmt::format("cut-{}.db", size);
        ASSERT_TRUE(write_file_atomic(file, std::string_view{bytes}.substr(0, size)));
        const auto refused = Database::open(file);
        ASSERT_FALSE(refused) << size;
        EXPECT_EQ(refused.error().code, Errc::Corrupt) << size << ": " << refused.error().message;
    }
}

TEST(DamagedDatabase, AnOverwrittenPageIsNoticed) {
    const TemporaryFolder folder;
    const auto file = folder / "dormouse.db";
    fill(file);
    auto bytes = *read_file(file);
    std::fill_n(bytes.begin() + 16 * 4096, 4096, '\x5a');
    ASSERT_TRUE(write_file_atomic(file, bytes));
    const auto refused = Database::open(file);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Corrupt);
}

TEST(Database, AFolderThatIsNotThereIsAClearError) {
    const TemporaryFolder folder;
    const auto refused = Database::open(folder / "absent" / "dormouse.db");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("absent/dormouse.db"));
    const auto is_folder = Database::open(folder.path());
    ASSERT_FALSE(is_folder);
    EXPECT_THAT(is_folder.error().message, HasSubstr("is not a file"));
}

TEST(Database, AFolderThatMayNotBeWrittenIsAClearError) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    const TemporaryFolder folder;
    ASSERT_EQ(::chmod(folder.path().c_str(), 0500), 0);
    const auto refused = Database::open(folder / "dormouse.db");
    ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("dormouse.db"));
}

TEST(Database, AFullDiskFailsTheWriteAndKeepsWhatWasThere) {
    const TemporaryFolder folder;
    auto database = std::move(*Database::open(folder / "dormouse.db"));
    auto store = std::move(*DesktopStore::open(*database));
    ASSERT_TRUE(store.insert(row("first")));
    ASSERT_TRUE(database->execute("PRAGMA max_page_count=1"));  // SQLite takes the present size
    Result<> last;
    int written = 0;
    while (written < 200 && (last = store.insert(row(fmt::format("n{}", written))))) ++written;
    ASSERT_FALSE(last);
    EXPECT_EQ(last.error().code, Errc::Io);
    EXPECT_THAT(last.error().hint, HasSubstr("disk is full"));
    EXPECT_TRUE(store.find("first"));
    EXPECT_EQ(store.list()->size(), static_cast<std::size_t>(written) + 1);
    ASSERT_TRUE(database->execute("PRAGMA max_page_count=100000"));
    EXPECT_TRUE(store.insert(row("again")));
}

// ---- two connections

TEST(TwoConnections, SeeEachOthersCommits) {
    const TemporaryFolder folder;
    auto first = std::move(*Database::open(folder / "dormouse.db"));
    auto second = std::move(*Database::open(folder / "dormouse.db"));
    ASSERT_TRUE(DesktopStore::open(*first)->insert(row("one")));
    EXPECT_TRUE(DesktopStore::open(*second)->find("one"));
    EXPECT_EQ(DesktopStore::open(*second)->insert(row("one")).error().code, Errc::Conflict);
}

TEST(TwoConnections, AWriterThatWaitsTooLongIsToldToTryAgainAndReadersGoOn) {
    const TemporaryFolder folder;
    auto first = std::move(*Database::open(folder / "dormouse.db"));
    auto second = std::move(*Database::open(folder / "dormouse.db"));
    ASSERT_TRUE(second->execute("PRAGMA busy_timeout=20"));
    auto store = std::move(*DesktopStore::open(*second));
    auto held = first->begin();
    ASSERT_TRUE(held);
    const auto refused = store.insert(row("two"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Unavailable);
    EXPECT_TRUE(store.list());
    ASSERT_TRUE(held->commit());
    EXPECT_TRUE(store.insert(row("two")));
}

}  // namespace
}  // namespace dormouse::db

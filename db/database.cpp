// SPDX-License-Identifier: Apache-2.0
#include "db/database.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>
#include <utility>

#include "db/handles.h"
#include "hostd/base/check.h"
#include "hostd/base/file.h"

namespace dormouse::db {

namespace {

// "DORM": tells our files from other SQLite files.
constexpr int kApplicationId = 0x444f524d;

// Longer than any transaction of ours; only a second daemon or somebody with the
// sqlite3 shell open could hold the file.
constexpr int kBusyTimeoutMilliseconds = 5000;

// Makes the file before SQLite does, for its mode; the -wal and -shm files get
// the same. An existing file is not opened here: closing a descriptor of it
// would drop the locks of another connection of this process.
Result<> ensure_private_file(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
        if (!S_ISREG(status.st_mode)) return fail(Errc::Io, fmt::format("{} is not a file", path.string()));
        if ((status.st_mode & 0077) != 0 && ::chmod(path.c_str(), 0600) != 0)
            return fail_errno(fmt::format("make {} private", path.string()));
        return {};
    }
    const auto made = open_file(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (!made) return fail(made.error());
    return {};
}

Result<int> parse_number(const std::string& text) {
    int number = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end)
        return fail(Errc::Corrupt, fmt::format("'{}' is not a number", text));
    return number;
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
    sqlite3_finalize(statement);
}

void Database::Close::operator()(sqlite3* db) const noexcept {
    sqlite3_close_v2(db);
}

Transaction::Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}

Transaction::~Transaction() {
    if (db_) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<> Transaction::commit() {
    DORMOUSE_CHECK(db_ != nullptr);
    DORMOUSE_TRY(check(sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr), db_, "write to the database"));
    db_ = nullptr;
    return {};
}

Database::Database(Handle handle) : handle_(std::move(handle)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& path) {
    return open_with(path, migrations());
}

Result<std::unique_ptr<Database>> Database::open_with(const std::filesystem::path& path,
                                                      std::span<const Migration> schema) {
    const auto context = fmt::format("open the database {}", path.string());
    if (auto made = ensure_private_file(path); !made) return fail_in(context, made.error());

    sqlite3* raw = nullptr;
    const int rc =
        sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, nullptr);
    Handle handle{raw};  // also when opening failed, as SQLite wants it
    DORMOUSE_TRY(check(rc, raw, context));
    std::unique_ptr<Database> database{new Database{std::move(handle)}};

    sqlite3_extended_result_codes(raw, 1);
    sqlite3_busy_timeout(raw, kBusyTimeoutMilliseconds);
    const auto prepared = [&]() -> Result<> {
        DORMOUSE_TRY(database->check_is_ours());
        DORMOUSE_TRY_ASSIGN(const int version, database->schema_version());
        const int newest = schema.empty() ? 0 : schema.back().version;
        if (version > newest)
            return fail(Errc::Conflict,
                        fmt::format("it was written by a newer Dormouse (schema {}; this one knows up to {})",
                                    version, newest),
                        "run the newer version again, or restore a backup from before the upgrade");
        DORMOUSE_TRY(database->configure());
        return database->migrate(schema);
    }();
    if (!prepared) return fail_in(context, prepared.error());
    return database;
}

Result<> Database::check_is_ours() const {
    DORMOUSE_TRY_ASSIGN(const auto application, pragma("application_id"));
    DORMOUSE_TRY_ASSIGN(const int id, parse_number(application));
    if (id != kApplicationId) {
        DORMOUSE_TRY_ASSIGN(const auto statement, prepare("SELECT count(*) FROM sqlite_schema"));
        Query query{statement, "read the schema"};
        DORMOUSE_TRY(query.step());
        if (id != 0 || query.number_at(0) != 0)
            return fail(Errc::Corrupt, "the file is a database, but not one of Dormouse's",
                        "move it away, or set DORMOUSE_HOME to another folder");
        return {};  // new
    }
    // Small enough (some hundred rows) to look at all of it at each start.
    DORMOUSE_TRY_ASSIGN(const auto verdict, pragma("quick_check(1)"));
    if (verdict != "ok")
        return fail(Errc::Corrupt, "the file is damaged: " + verdict,
                    "restore the database from a backup, or move it away to start anew");
    return {};
}

Result<> Database::configure() {
    DORMOUSE_TRY_ASSIGN(const auto mode, pragma("journal_mode=WAL"));
    if (mode != "wal")
        return fail(Errc::Io, fmt::format("the file system cannot keep a write-ahead log (mode {})", mode),
                    "keep the state folder on a local file system");
    // With WAL the default may lose the last commits at a power cut.
    DORMOUSE_TRY(execute("PRAGMA synchronous=FULL"));
    return execute("PRAGMA foreign_keys=ON");
}

Result<> Database::migrate(std::span<const Migration> schema) {
    for (const auto& migration : schema) DORMOUSE_TRY(apply(migration));
    return {};
}

Result<> Database::apply(const Migration& migration) {
    DORMOUSE_TRY_ASSIGN(const int before, schema_version());
    if (before >= migration.version) return {};
    DORMOUSE_TRY_ASSIGN(auto transaction, begin());
    // Another process may have done it while this one waited for the lock.
    DORMOUSE_TRY_ASSIGN(const int now, schema_version());
    if (now >= migration.version) return {};
    DORMOUSE_CHECK(now == migration.version - 1);
    if (auto done = execute(std::string{migration.sql}); !done)
        return fail_in(fmt::format("bring the schema from version {} to {}", now, migration.version),
                       done.error());
    DORMOUSE_TRY(execute(
        fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId, migration.version)));
    return transaction.commit();
}

Result<Statement> Database::prepare(std::string_view sql) const {
    sqlite3_stmt* statement = nullptr;
    const int rc = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    DORMOUSE_TRY(check(rc, handle_.get(), "prepare a statement"));
    return Statement{statement};
}

Result<> Database::execute(const std::string& sql) {
    return check(sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr), handle_.get(),
                 "run a statement");
}

Result<Transaction> Database::begin() {
    // Immediate: a transaction that reads first and writes later could fail in
    // the middle when another connection wrote in between.
    DORMOUSE_TRY(execute("BEGIN IMMEDIATE"));
    return Transaction{handle_.get()};
}

Result<int> Database::schema_version() const {
    DORMOUSE_TRY_ASSIGN(const auto text, pragma("user_version"));
    return parse_number(text);
}

Result<std::string> Database::pragma(const std::string& name) const {
    DORMOUSE_TRY_ASSIGN(const auto statement, prepare("PRAGMA " + name));
    Query query{statement, "read the database"};
    DORMOUSE_TRY_ASSIGN(const bool found, query.step());
    return found ? query.text_at(0) : std::string{};
}

}  // namespace dormouse::db

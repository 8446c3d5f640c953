// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hostd/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace dormouse::db {

class Database;

// A statement that was prepared once and is run many times. Statements may be
// destroyed before or after their Database (the connection lingers until then).
class Statement {
  public:
    sqlite3_stmt* get() const { return handle_.get(); }

  private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    explicit Statement(sqlite3_stmt* statement) : handle_(statement) {}
    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// What happens on the database until commit(); destroying it without that takes
// all of it back. Must not outlive its Database; they do not nest.
class Transaction {
  public:
    Transaction(Transaction&& other) noexcept;
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    Result<> commit();  // on failure everything is taken back

  private:
    friend class Database;
    explicit Transaction(sqlite3* db) : db_(db) {}
    sqlite3* db_;
};

// A numbered change of the schema. They are only ever added, never edited.
struct Migration {
    int version = 0;  // 1, 2, 3, ... without gaps
    std::string_view sql;
};

// Those that this program has, in order (db/migrations/).
std::span<const Migration> migrations();

// One connection to the one SQLite file: WAL, every commit on disk before it
// returns, foreign keys on, mode 0600.
//
// Blocks on the disk. Opened in main, afterwards used on the `store` thread only
// (see store_thread.h). Errors: Errc::Unavailable when another process holds the
// file too long, Errc::Io when the disk is full or fails, Errc::Corrupt when the
// file is damaged.
class Database {
  public:
    // Opens the file, makes it when absent, and brings its schema up to date.
    // Errc::Corrupt for a damaged file or one that is not ours, Errc::Conflict
    // for one that a newer program has written. Then nothing is changed.
    static Result<std::unique_ptr<Database>> open(const std::filesystem::path& path);

    // The same with other migrations; for tests.
    static Result<std::unique_ptr<Database>> open_with(const std::filesystem::path& path,
                                                       std::span<const Migration> schema);

    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();

    Result<Statement> prepare(std::string_view sql) const;
    Result<> execute(const std::string& sql);  // one or more statements without values
    Result<Transaction> begin();               // takes the write lock at once
    Result<int> schema_version() const;

  private:
    struct Close {
        void operator()(sqlite3* db) const noexcept;
    };
    using Handle = std::unique_ptr<sqlite3, Close>;
    explicit Database(Handle handle);

    Result<> configure();
    Result<> check_is_ours() const;
    Result<> migrate(std::span<const Migration> schema);
    Result<> apply(const Migration& migration);
    Result<std::string> pragma(const std::string& name) const;

    Handle handle_;
};

}  // namespace dormouse::db

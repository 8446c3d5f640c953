// SPDX-License-Identifier: Apache-2.0
#include "db/handles.h"

namespace dormouse::db {

namespace {

struct Meaning {
    Errc code;
    std::string_view hint;
};

Meaning meaning_of(int rc) {
    switch (rc & 0xff) {  // the rest are details of extended codes
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return {Errc::Unavailable, "another process is using the database; try again"};
        case SQLITE_CONSTRAINT:
            return {Errc::Conflict, ""};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return {Errc::Corrupt, "restore the database from a backup, or move it away to start anew"};
        case SQLITE_FULL:
            return {Errc::Io, "the disk is full; free some space"};
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_PERM:
            return {Errc::Io, "the database file and its folder must be writable"};
        default:
            return {Errc::Io, ""};
    }
}

}  // namespace

Result<> check(int rc, sqlite3* db, std::string_view doing) {
    if (rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE) return {};
    const auto meaning = meaning_of(rc);
    const char* what = db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    return fail(meaning.code, fmt::format("{}: {}", doing, what), std::string{meaning.hint});
}

Query::Query(const Statement& statement, std::string_view doing)
    : statement_(statement.get()), doing_(doing) {}

Query::~Query() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

Query& Query::bound(int rc) {
    if (failed_ == SQLITE_OK) failed_ = rc;
    ++next_;
    return *this;
}

Query& Query::text(std::string_view value) {
    // An empty view may have no data, which SQLite would take for NULL.
    const char* data = value.data() ? value.data() : "";
    return bound(sqlite3_bind_text64(statement_, next_, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

Query& Query::maybe_text(const std::optional<std::string>& value) {
    if (value) return text(std::string_view{*value});
    return bound(sqlite3_bind_null(statement_, next_));
}

Query& Query::blob(std::string_view bytes) {
    const char* data = bytes.data() ? bytes.data() : "";
    return bound(sqlite3_bind_blob64(statement_, next_, data, bytes.size(), SQLITE_TRANSIENT));
}

Query& Query::maybe_blob(const std::optional<std::string>& bytes) {
    if (bytes) return blob(*bytes);
    return bound(sqlite3_bind_null(statement_, next_));
}

Query& Query::number(std::int64_t value) {
    return bound(sqlite3_bind_int64(statement_, next_, value));
}

Query& Query::time(WallTime value) {
    return number(std::chrono::floor<std::chrono::milliseconds>(value).time_since_epoch().count());
}

Query& Query::maybe_time(const std::optional<WallTime>& value) {
    if (value) return time(*value);
    return bound(sqlite3_bind_null(statement_, next_));
}

Result<bool> Query::step() {
    auto* const db = sqlite3_db_handle(statement_);
    if (failed_ != SQLITE_OK) return fail(check(failed_, nullptr, doing_).error());
    const int rc = sqlite3_step(statement_);
    DORMOUSE_TRY(check(rc, db, doing_));
    return rc == SQLITE_ROW;
}

Result<> Query::run() {
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const bool more, step());
        if (!more) return {};
    }
}

int Query::changes() const {
    return sqlite3_changes(sqlite3_db_handle(statement_));
}

bool Query::null_at(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string Query::text_at(int column) const {
    // The pointer first: asking for the size may convert the value.
    const void* data = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    if (!data || size <= 0) return {};
    return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

std::optional<std::string> Query::maybe_text_at(int column) const {
    if (null_at(column)) return std::nullopt;
    return text_at(column);
}

std::int64_t Query::number_at(int column) const {
    return sqlite3_column_int64(statement_, column);
}

WallTime Query::time_at(int column) const {
    return WallTime{std::chrono::milliseconds{number_at(column)}};
}

std::optional<WallTime> Query::maybe_time_at(int column) const {
    if (null_at(column)) return std::nullopt;
    return time_at(column);
}

}  // namespace dormouse::db

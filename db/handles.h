// SPDX-License-Identifier: Apache-2.0
// The only header that sees SQLite; for the sources of db alone.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "hostd/base/clock.h"
#include "hostd/base/result.h"

namespace dormouse::db {

// A result code of SQLite becomes an Error at the call, once.
Result<> check(int rc, sqlite3* db, std::string_view doing);

// One execution of a prepared statement. Values are bound from ?1 on, in order.
// Destroying it makes the statement ready for the next; a failed bind shows at step().
class Query {
  public:
    Query(const Statement& statement, std::string_view doing);
    ~Query();
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;

    Query& text(std::string_view value);
    Query& maybe_text(const std::optional<std::string>& value);
    Query& blob(std::string_view bytes);
    Query& maybe_blob(const std::optional<std::string>& bytes);
    Query& number(std::int64_t value);
    Query& time(WallTime value);
    Query& maybe_time(const std::optional<WallTime>& value);

    Result<bool> step();  // whether there is a row
    Result<> run();       // for statements without rows
    int changes() const;  // rows that run() changed

    // Of the present row; columns count from 0.
    std::string text_at(int column) const;
    std::optional<std::string> maybe_text_at(int column) const;
    std::int64_t number_at(int column) const;
    WallTime time_at(int column) const;
    std::optional<WallTime> maybe_time_at(int column) const;

  private:
    bool null_at(int column) const;
    Query& bound(int rc);

    sqlite3_stmt* statement_;
    std::string_view doing_;
    int next_ = 1;
    int failed_ = SQLITE_OK;
};

// All rows of a query, each read by `read_row` into a Row or a Result of one.
template <class Row, class Read>
Result<std::vector<Row>> all_rows(Query& query, Read read_row) {
    std::vector<Row> rows;
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const bool more, query.step());
        if (!more) return rows;
        DORMOUSE_TRY_ASSIGN(auto row, Result<Row>{read_row(query)});
        rows.push_back(std::move(row));
    }
}

// The first row, or nothing.
template <class Row, class Read>
Result<std::optional<Row>> one_row(Query& query, Read read_row) {
    DORMOUSE_TRY_ASSIGN(const bool found, query.step());
    if (!found) return std::optional<Row>{};
    DORMOUSE_TRY_ASSIGN(auto row, Result<Row>{read_row(query)});
    return std::optional<Row>{std::move(row)};
}

// Reads an identifier that this program wrote: another shape is Errc::Corrupt.
template <class AnyId>
Result<AnyId> id_at(const Query& query, int column) {
    auto id = AnyId::parse(query.text_at(column));
    if (!id)
        return fail(Errc::Corrupt, "the database holds a name of the wrong shape: " + id.error().message);
    return id;
}

}  // namespace dormouse::db

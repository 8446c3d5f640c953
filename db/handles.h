// SPDX-License-Identifier: Apache-2.0
// The only header that sees SQLite; for the sources of db alone.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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

// Reads an identifier that this program wrote: another shape is Errc::Corrupt.
template <class AnyId>
Result<AnyId> id_at(const Query& query, int column) {
    auto id = AnyId::parse(query.text_at(column));
    if (!id)
        return fail(Errc::Corrupt, "the database holds a name of the wrong shape: " + id.error().message);
    return id;
}

}  // namespace dormouse::db

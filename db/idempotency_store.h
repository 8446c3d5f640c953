// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "db/database.h"
#include "hostd/base/clock.h"
#include "hostd/base/result.h"

namespace dormouse::db {

// A request that carried an idempotency key.
struct IdempotencyRow {
    std::string token;  // id; keys of different tokens have nothing to do with each other
    std::string key;
    std::string fingerprint;            // bytes; of what was asked for
    std::optional<std::string> made;    // id of the desktop that it makes
    std::optional<std::string> answer;  // bytes, sealed; absent while it is in progress
    WallTime created_at;
    friend bool operator==(const IdempotencyRow&, const IdempotencyRow&) = default;
};

// What was answered to requests that may come again. On the `store` thread; each
// call is one transaction. The database must outlive it.
class IdempotencyStore {
  public:
    static Result<IdempotencyStore> open(Database& database);

    // Writes the row unless its key is there, from after `oldest`; then that row.
    Result<std::optional<IdempotencyRow>> claim(const IdempotencyRow& row, WallTime oldest);

    // Both are fine when the row is gone.
    Result<> set_made(std::string_view token, std::string_view key, std::string_view made);
    Result<> set_answer(std::string_view token, std::string_view key, std::string_view answer);

    Result<> remove(std::string_view token, std::string_view key);
    // At the start: those that were in progress when the daemon ended.
    Result<std::vector<IdempotencyRow>> unanswered();
    Result<> remove_old(WallTime oldest);
    Result<> remove_token(std::string_view token);

  private:
    struct Statements {
        Statement insert, find, set_made, set_answer, remove, unanswered, remove_old, remove_token;
    };
    IdempotencyStore(Database& database, Statements statements)
        : database_(&database), statements_(std::move(statements)) {}

    Database* database_;
    Statements statements_;
};

}  // namespace dormouse::db

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "hostd/base/clock.h"
#include "hostd/base/id.h"
#include "hostd/base/result.h"

namespace dormouse::db {

struct TokenRow {
    TokenId id;
    std::string name;
    std::string scope;  // "admin", "agent" or "viewer"
    std::string hash;   // bytes; of the secret, which is nowhere kept
    WallTime created_at;
    std::optional<WallTime> last_used_at;
    // What it is limited to; "" is no limit. Words with a space between them.
    std::string desktops{};  // ids or names
    std::string label{};     // "key=value"
    std::string commands{};  // groups of commands
    std::optional<WallTime> expires_at{};
    friend bool operator==(const TokenRow&, const TokenRow&) = default;
};

// The tokens. On the `store` thread; each call is one transaction. The database
// must outlive it.
class TokenStore {
  public:
    static Result<TokenStore> open(Database& database);

    Result<> insert(const TokenRow& row);  // Errc::Conflict when id or hash is there
    Result<std::optional<TokenRow>> find_by_hash(std::string_view hash);
    Result<std::vector<TokenRow>> list();  // oldest first

    // Errc::NotFound; Errc::Conflict for the last one of scope "admin" that does not
    // expire, without which one day nobody could make another.
    Result<> remove(const TokenId& id);

    // Remembers a use, but not more often than once a minute: each is a write to
    // the disk. An unknown token is fine (it was removed meanwhile).
    Result<> touch(const TokenId& id, WallTime now);

  private:
    struct Statements {
        Statement insert, find, list, scope_of, count_admins, remove, touch;
    };
    TokenStore(Database& database, Statements statements)
        : database_(&database), statements_(std::move(statements)) {}

    Database* database_;
    Statements statements_;
};

}  // namespace dormouse::db

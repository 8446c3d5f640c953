// SPDX-License-Identifier: Apache-2.0
#include "db/token_store.h"

#include "db/handles.h"

namespace dormouse::db {

namespace {

constexpr std::string_view kAdmin = "admin";
constexpr auto kTouchInterval = std::chrono::minutes{1};

constexpr std::string_view kColumns =
    "id, name, scope, hash, created_at, last_used_at, desktops, label, commands, expires_at";
const std::string kInsert =
    fmt::format("INSERT INTO tokens ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", kColumns);
const std::string kFind = fmt::format("SELECT {} FROM tokens WHERE hash = ?1", kColumns);
const std::string kList = fmt::format("SELECT {} FROM tokens ORDER BY created_at, id", kColumns);
constexpr std::string_view kScopeOf = "SELECT scope, expires_at IS NULL FROM tokens WHERE id = ?1";
constexpr std::string_view kCountAdmins =
    "SELECT count(*) FROM tokens WHERE scope = ?1 AND expires_at IS NULL";
constexpr std::string_view kRemove = "DELETE FROM tokens WHERE id = ?1";
// A time in the future comes from a clock that was wrong and is overwritten.
constexpr std::string_view kTouch =
    "UPDATE tokens SET last_used_at = ?1"
    " WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at <= ?3 OR last_used_at > ?1)";

Result<TokenRow> row_of(const Query& query) {
    DORMOUSE_TRY_ASSIGN(auto id, id_at<TokenId>(query, 0));
    return TokenRow{.id = std::move(id),
                    .name = query.text_at(1),
                    .scope = query.text_at(2),
                    .hash = query.text_at(3),
                    .created_at = query.time_at(4),
                    .last_used_at = query.maybe_time_at(5),
                    .desktops = query.text_at(6),
                    .label = query.text_at(7),
                    .commands = query.text_at(8),
                    .expires_at = query.maybe_time_at(9)};
}

}  // namespace

Result<TokenStore> TokenStore::open(Database& database) {
    DORMOUSE_TRY_ASSIGN(auto insert, database.prepare(kInsert));
    DORMOUSE_TRY_ASSIGN(auto find, database.prepare(kFind));
    DORMOUSE_TRY_ASSIGN(auto list, database.prepare(kList));
    DORMOUSE_TRY_ASSIGN(auto scope_of, database.prepare(kScopeOf));
    DORMOUSE_TRY_ASSIGN(auto count_admins, database.prepare(kCountAdmins));
    DORMOUSE_TRY_ASSIGN(auto remove, database.prepare(kRemove));
    DORMOUSE_TRY_ASSIGN(auto touch, database.prepare(kTouch));
    return TokenStore{database,
                      Statements{std::move(insert), std::move(find), std::move(list), std::move(scope_of),
                                 std::move(count_admins), std::move(remove), std::move(touch)}};
}

Result<> TokenStore::insert(const TokenRow& row) {
    Query query{statements_.insert, "remember the token"};
    query.text(row.id.str()).text(row.name).text(row.scope).blob(row.hash);
    query.time(row.created_at).maybe_time(row.last_used_at);
    query.text(row.desktops).text(row.label).text(row.commands).maybe_time(row.expires_at);
    return query.run();
}

Result<std::optional<TokenRow>> TokenStore::find_by_hash(std::string_view hash) {
    Query query{statements_.find, "look for the token"};
    query.blob(hash);
    return one_row<TokenRow>(query, row_of);
}

Result<std::vector<TokenRow>> TokenStore::list() {
    Query query{statements_.list, "list the tokens"};
    return all_rows<TokenRow>(query, row_of);
}

Result<> TokenStore::remove(const TokenId& id) {
    DORMOUSE_TRY_ASSIGN(auto transaction, database_->begin());
    {
        Query scope{statements_.scope_of, "look for the token"};
        scope.text(id.str());
        DORMOUSE_TRY_ASSIGN(const bool found, scope.step());
        if (!found)
            return fail(Errc::NotFound, fmt::format("there is no token '{}'", id.str()),
                        "list the tokens to see their ids");
        if (scope.text_at(0) == kAdmin && scope.number_at(1) != 0) {
            Query admins{statements_.count_admins, "count the admin tokens"};
            admins.text(kAdmin);
            DORMOUSE_TRY(admins.step());
            if (admins.number_at(0) <= 1)
                return fail(Errc::Conflict, fmt::format("'{}' is the last admin token", id.str()),
                            "create another admin token first");
        }
    }
    Query query{statements_.remove, "remove the token"};
    query.text(id.str());
    DORMOUSE_TRY(query.run());
    return transaction.commit();
}

Result<> TokenStore::touch(const TokenId& id, WallTime now) {
    Query query{statements_.touch, "remember the token's use"};
    query.time(now).text(id.str()).time(now - kTouchInterval);
    return query.run();
}

}  // namespace dormouse::db

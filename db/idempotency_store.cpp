// SPDX-License-Identifier: Apache-2.0
#include "db/idempotency_store.h"

#include "db/handles.h"

namespace dormouse::db {

namespace {

constexpr std::string_view kInsert =
    "INSERT INTO idempotency (token, key, fingerprint, made, answer, created_at)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
constexpr std::string_view kFind =
    "SELECT token, key, fingerprint, made, answer, created_at FROM idempotency WHERE token = ?1 AND key = ?2";
constexpr std::string_view kSetMade = "UPDATE idempotency SET made = ?3 WHERE token = ?1 AND key = ?2";
constexpr std::string_view kSetAnswer = "UPDATE idempotency SET answer = ?3 WHERE token = ?1 AND key = ?2";
constexpr std::string_view kRemove = "DELETE FROM idempotency WHERE token = ?1 AND key = ?2";
constexpr std::string_view kUnanswered =
    "SELECT token, key, fingerprint, made, answer, created_at FROM idempotency WHERE answer IS NULL";
constexpr std::string_view kRemoveOld = "DELETE FROM idempotency WHERE created_at < ?1";
constexpr std::string_view kRemoveToken = "DELETE FROM idempotency WHERE token = ?1";

IdempotencyRow row_of(const Query& query) {
    return {.token = query.text_at(0),
            .key = query.text_at(1),
            .fingerprint = query.text_at(2),
            .made = query.maybe_text_at(3),
            .answer = query.maybe_text_at(4),
            .created_at = query.time_at(5)};
}

}  // namespace

Result<IdempotencyStore> IdempotencyStore::open(Database& database) {
    DORMOUSE_TRY_ASSIGN(auto insert, database.prepare(kInsert));
    DORMOUSE_TRY_ASSIGN(auto find, database.prepare(kFind));
    DORMOUSE_TRY_ASSIGN(auto set_made, database.prepare(kSetMade));
    DORMOUSE_TRY_ASSIGN(auto set_answer, database.prepare(kSetAnswer));
    DORMOUSE_TRY_ASSIGN(auto remove, database.prepare(kRemove));
    DORMOUSE_TRY_ASSIGN(auto unanswered, database.prepare(kUnanswered));
    DORMOUSE_TRY_ASSIGN(auto remove_old, database.prepare(kRemoveOld));
    DORMOUSE_TRY_ASSIGN(auto remove_token, database.prepare(kRemoveToken));
    return IdempotencyStore{
        database,
        Statements{std::move(insert), std::move(find), std::move(set_made), std::move(set_answer),
                   std::move(remove), std::move(unanswered), std::move(remove_old), std::move(remove_token)}};
}

Result<std::optional<IdempotencyRow>> IdempotencyStore::claim(const IdempotencyRow& row, WallTime oldest) {
    DORMOUSE_TRY_ASSIGN(auto transaction, database_->begin());
    {
        Query find{statements_.find, "look for an idempotency key"};
        find.text(row.token).text(row.key);
        DORMOUSE_TRY_ASSIGN(auto found, one_row<IdempotencyRow>(find, row_of));
        if (found && found->created_at >= oldest) return found;
    }
    DORMOUSE_TRY(remove(row.token, row.key));
    Query insert{statements_.insert, "remember an idempotency key"};
    insert.text(row.token).text(row.key).blob(row.fingerprint).maybe_text(row.made);
    insert.maybe_blob(row.answer).time(row.created_at);
    DORMOUSE_TRY(insert.run());
    DORMOUSE_TRY(transaction.commit());
    return std::optional<IdempotencyRow>{};
}

Result<> IdempotencyStore::set_made(std::string_view token, std::string_view key, std::string_view made) {
    Query query{statements_.set_made, "remember what an idempotency key has made"};
    query.text(token).text(key).text(made);
    return query.run();
}

Result<> IdempotencyStore::set_answer(std::string_view token, std::string_view key, std::string_view answer) {
    Query query{statements_.set_answer, "remember the answer of an idempotency key"};
    query.text(token).text(key).blob(answer);
    return query.run();
}

Result<> IdempotencyStore::remove(std::string_view token, std::string_view key) {
    Query query{statements_.remove, "forget an idempotency key"};
    query.text(token).text(key);
    return query.run();
}

Result<std::vector<IdempotencyRow>> IdempotencyStore::unanswered() {
    Query query{statements_.unanswered, "list the idempotency keys"};
    return all_rows<IdempotencyRow>(query, row_of);
}

Result<> IdempotencyStore::remove_old(WallTime oldest) {
    Query query{statements_.remove_old, "forget old idempotency keys"};
    query.time(oldest);
    return query.run();
}

Result<> IdempotencyStore::remove_token(std::string_view token) {
    Query query{statements_.remove_token, "forget the idempotency keys of a token"};
    query.text(token);
    return query.run();
}

}  // namespace dormouse::db

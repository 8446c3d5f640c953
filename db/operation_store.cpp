// SPDX-License-Identifier: Apache-2.0
#include "db/operation_store.h"

#include "db/handles.h"

namespace dormouse::db {

namespace {

constexpr std::string_view kPut =
    "INSERT OR REPLACE INTO operations (id, kind, token, desktop, image, state, step, error_code, error, "
    "hint,"
    " created_at, finished_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
constexpr std::string_view kList =
    "SELECT id, kind, token, desktop, image, state, step, error_code, error, hint, created_at, finished_at"
    " FROM operations ORDER BY created_at, id";
constexpr std::string_view kRemoveOld = "DELETE FROM operations WHERE finished_at < ?1";

OperationRow row_of(const Query& query) {
    return {.id = query.text_at(0),
            .kind = query.text_at(1),
            .token = query.text_at(2),
            .desktop = query.maybe_text_at(3),
            .image = query.maybe_text_at(4),
            .state = query.text_at(5),
            .step = query.text_at(6),
            .error_code = query.maybe_text_at(7),
            .error = query.maybe_text_at(8),
            .hint = query.maybe_text_at(9),
            .created_at = query.time_at(10),
            .finished_at = query.maybe_time_at(11)};
}

}  // namespace

Result<OperationStore> OperationStore::open(Database& database) {
    DORMOUSE_TRY_ASSIGN(auto put, database.prepare(kPut));
    DORMOUSE_TRY_ASSIGN(auto list, database.prepare(kList));
    DORMOUSE_TRY_ASSIGN(auto remove_old, database.prepare(kRemoveOld));
    return OperationStore{Statements{std::move(put), std::move(list), std::move(remove_old)}};
}

Result<> OperationStore::put(const OperationRow& row) {
    Query query{statements_.put, "remember an operation"};
    query.text(row.id).text(row.kind).text(row.token).maybe_text(row.desktop).maybe_text(row.image);
    query.text(row.state).text(row.step).maybe_text(row.error_code).maybe_text(row.error);
    query.maybe_text(row.hint).time(row.created_at).maybe_time(row.finished_at);
    return query.run();
}

Result<std::vector<OperationRow>> OperationStore::list() {
    Query query{statements_.list, "list the operations"};
    return all_rows<OperationRow>(query, row_of);
}

Result<> OperationStore::remove_old(WallTime finished_before) {
    Query query{statements_.remove_old, "forget old operations"};
    query.time(finished_before);
    return query.run();
}

}  // namespace dormouse::db

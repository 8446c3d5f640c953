// SPDX-License-Identifier: Apache-2.0
#include "db/audit_store.h"

#include "db/handles.h"

namespace dormouse::db {

namespace {

constexpr std::string_view kAppend =
    "INSERT INTO audit (at, token, desktop, command, outcome, detail, duration_ms)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
constexpr std::string_view kNewest =
    "SELECT at, token, desktop, command, outcome, detail, duration_ms FROM audit ORDER BY number DESC LIMIT "
    "?1";

AuditRow row_of(const Query& query) {
    return AuditRow{.at = query.time_at(0),
                    .token = query.text_at(1),
                    .desktop = query.maybe_text_at(2),
                    .command = query.text_at(3),
                    .outcome = query.text_at(4),
                    .detail = query.text_at(5),
                    .duration = std::chrono::milliseconds{query.number_at(6)}};
}

}  // namespace

Result<AuditStore> AuditStore::open(Database& database) {
    DORMOUSE_TRY_ASSIGN(auto append, database.prepare(kAppend));
    DORMOUSE_TRY_ASSIGN(auto newest, database.prepare(kNewest));
    return AuditStore{Statements{std::move(append), std::move(newest)}};
}

Result<> AuditStore::append(const AuditRow& row) {
    Query query{statements_.append, "write the audit log"};
    query.time(row.at).text(row.token).maybe_text(row.desktop).text(row.command);
    query.text(row.outcome).text(row.detail).number(row.duration.count());
    return query.run();
}

Result<std::vector<AuditRow>> AuditStore::newest(int limit) {
    std::vector<AuditRow> rows;
    Query query{statements_.newest, "read the audit log"};
    query.number(limit < 0 ? 0 : limit);
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const bool more, query.step());
        if (!more) return rows;
        rows.push_back(row_of(query));
    }
}

}  // namespace dormouse::db

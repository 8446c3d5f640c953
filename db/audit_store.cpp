// SPDX-License-Identifier: Apache-2.0
#include "db/audit_store.h"

#include <algorithm>

#include "db/handles.h"

namespace dormouse::db {

namespace {

constexpr std::string_view kAppend =
    "INSERT INTO audit (at, token, desktop, command, outcome, detail, duration_ms)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING number";
constexpr std::string_view kRepeat = "UPDATE audit SET count = count + ?1, last_at = ?2 WHERE number = ?3";
constexpr std::string_view kSelect =
    "SELECT at, token, desktop, command, outcome, detail, duration_ms, number, count, last_at FROM audit";
// Times may go back with the clock, so a row is old by its own time; numbers do not.
constexpr std::string_view kPrune =
    "DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE at < ?1"
    " OR number <= (SELECT max(number) FROM audit) - ?2 ORDER BY number LIMIT ?3)";

AuditRow row_of(const Query& query) {
    return AuditRow{.at = query.time_at(0),
                    .token = query.text_at(1),
                    .desktop = query.maybe_text_at(2),
                    .command = query.text_at(3),
                    .outcome = query.text_at(4),
                    .detail = query.text_at(5),
                    .duration = std::chrono::milliseconds{query.number_at(6)},
                    .number = query.number_at(7),
                    .count = query.number_at(8),
                    .last_at = query.maybe_time_at(9)};
}

// The conditions that a filter has, and nothing else: so that an index serves.
std::string condition_of(const AuditFilter& filter) {
    std::string text;
    const auto add = [&](bool wanted, std::string_view condition) {
        if (wanted) text += fmt::format("{} {}", text.empty() ? " WHERE" : " AND", condition);
    };
    const bool prefix = filter.command && filter.command->ends_with('.');
    const bool failed = filter.outcome == "failed";
    add(filter.token.has_value(), "token = ?");
    add(filter.desktop.has_value(), "desktop = ?");
    add(filter.command && !prefix, "command = ?");
    add(prefix, "substr(command, 1, ?) = ?");
    add(filter.outcome && !failed, "outcome = ?");
    add(failed, "outcome <> 'ok'");
    add(filter.since.has_value(), "coalesce(last_at, at) >= ?");
    add(filter.until.has_value(), "at < ?");
    add(filter.before.has_value(), "number < ?");
    return text;
}

void bind_filter(Query& query, const AuditFilter& filter) {
    if (filter.token) query.text(*filter.token);
    if (filter.desktop) query.text(*filter.desktop);
    if (filter.command) {
        if (filter.command->ends_with('.')) query.number(static_cast<std::int64_t>(filter.command->size()));
        query.text(*filter.command);
    }
    if (filter.outcome && *filter.outcome != "failed") query.text(*filter.outcome);
    if (filter.since) query.time(*filter.since);
    if (filter.until) query.time(*filter.until);
    if (filter.before) query.number(*filter.before);
}

}  // namespace

Result<AuditStore> AuditStore::open(Database& database) {
    DORMOUSE_TRY_ASSIGN(auto append, database.prepare(kAppend));
    DORMOUSE_TRY_ASSIGN(auto repeat, database.prepare(kRepeat));
    DORMOUSE_TRY_ASSIGN(auto prune, database.prepare(kPrune));
    return AuditStore{database, Statements{std::move(append), std::move(repeat), std::move(prune)}};
}

Result<std::int64_t> AuditStore::append(const AuditRow& row) {
    Query query{statements_.append, "write the audit log"};
    query.time(row.at).text(row.token).maybe_text(row.desktop).text(row.command);
    query.text(row.outcome).text(row.detail).number(row.duration.count());
    DORMOUSE_TRY(query.step());
    const auto number = query.number_at(0);
    DORMOUSE_TRY(query.run());  // to its end: only then it is written
    return number;
}

Result<> AuditStore::repeat(std::int64_t number, std::int64_t more, WallTime last) {
    Query query{statements_.repeat, "write the audit log"};
    query.number(more).time(last).number(number);
    return query.run();
}

Result<std::vector<AuditRow>> AuditStore::newest(int limit) {
    return query({}, limit);
}

Result<std::vector<AuditRow>> AuditStore::query(const AuditFilter& filter, int limit) {
    // Asked for by people now and then: not worth keeping a statement for each kind.
    const auto sql = fmt::format("{}{} ORDER BY number DESC LIMIT ?", kSelect, condition_of(filter));
    DORMOUSE_TRY_ASSIGN(const auto statement, database_->prepare(sql));
    Query query{statement, "read the audit log"};
    bind_filter(query, filter);
    query.number(std::max(limit, 0));  // SQLite takes a negative limit for none
    return all_rows<AuditRow>(query, row_of);
}

Result<int> AuditStore::prune(WallTime oldest, std::int64_t most, int at_once) {
    Query query{statements_.prune, "shorten the audit log"};
    query.time(oldest).number(most).number(at_once);
    DORMOUSE_TRY(query.run());
    return query.changes();
}

}  // namespace dormouse::db

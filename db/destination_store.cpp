// SPDX-License-Identifier: Apache-2.0
#include "db/destination_store.h"

#include "db/handles.h"

namespace dormouse::db {

namespace {

constexpr std::string_view kLast = "SELECT reporter, sequence FROM destination_reports WHERE desktop = ?1";
constexpr std::string_view kMark =
    "INSERT INTO destination_reports (desktop, reporter, sequence) VALUES (?1, ?2, ?3)"
    " ON CONFLICT (desktop) DO UPDATE SET reporter = excluded.reporter, sequence = excluded.sequence";
constexpr std::string_view kAdd =
    "INSERT INTO destinations (desktop, name, address, port, protocol, verdict, reason, first_at, last_at,"
    " connections, bytes_sent, bytes_received, subject)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    " ON CONFLICT (desktop, subject, port, protocol, verdict) DO UPDATE SET"
    " address = excluded.address, reason = excluded.reason,"
    " first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at),"
    " connections = connections + excluded.connections, bytes_sent = bytes_sent + excluded.bytes_sent,"
    " bytes_received = bytes_received + excluded.bytes_received";
constexpr std::string_view kTrim =
    "DELETE FROM destinations WHERE desktop = ?1 AND rowid NOT IN"
    " (SELECT rowid FROM destinations WHERE desktop = ?1 ORDER BY last_at DESC LIMIT ?2)";
constexpr std::string_view kList =
    "SELECT name, address, port, protocol, verdict, reason, first_at, last_at, connections, bytes_sent,"
    " bytes_received FROM destinations WHERE desktop = ?1 ORDER BY last_at DESC, subject, port, protocol";
constexpr std::string_view kRemove = "DELETE FROM destinations WHERE desktop = ?1";
constexpr std::string_view kRemoveMark = "DELETE FROM destination_reports WHERE desktop = ?1";

DestinationRow row_of(const Query& query) {
    return {.name = query.text_at(0),
            .address = query.text_at(1),
            .port = static_cast<int>(query.number_at(2)),
            .protocol = query.text_at(3),
            .verdict = query.text_at(4),
            .reason = query.text_at(5),
            .first_at = query.time_at(6),
            .last_at = query.time_at(7),
            .connections = query.number_at(8),
            .bytes_sent = query.number_at(9),
            .bytes_received = query.number_at(10)};
}

}  // namespace

Result<DestinationStore> DestinationStore::open(Database& database) {
    DORMOUSE_TRY_ASSIGN(auto last, database.prepare(kLast));
    DORMOUSE_TRY_ASSIGN(auto mark, database.prepare(kMark));
    DORMOUSE_TRY_ASSIGN(auto add, database.prepare(kAdd));
    DORMOUSE_TRY_ASSIGN(auto trim, database.prepare(kTrim));
    DORMOUSE_TRY_ASSIGN(auto list, database.prepare(kList));
    DORMOUSE_TRY_ASSIGN(auto remove, database.prepare(kRemove));
    DORMOUSE_TRY_ASSIGN(auto remove_mark, database.prepare(kRemoveMark));
    return DestinationStore{database,
                            Statements{std::move(last), std::move(mark), std::move(add), std::move(trim),
                                       std::move(list), std::move(remove), std::move(remove_mark)}};
}

Result<> DestinationStore::add(const DesktopId& desktop, const DestinationReport& report) {
    DORMOUSE_TRY_ASSIGN(auto transaction, database_->begin());
    {
        Query last{statements_.last, "look for the last report of destinations"};
        last.text(desktop.str());
        DORMOUSE_TRY_ASSIGN(const bool found, last.step());
        if (found && last.text_at(0) == report.reporter && last.number_at(1) >= report.sequence) return {};
    }
    for (const auto& row : report.rows) {
        Query add{statements_.add, "remember a destination"};
        add.text(desktop.str()).text(row.name).text(row.address).number(row.port).text(row.protocol);
        add.text(row.verdict).text(row.reason).time(row.first_at).time(row.last_at).number(row.connections);
        add.number(row.bytes_sent).number(row.bytes_received);
        add.text(row.name.empty() ? row.address : row.name);
        DORMOUSE_TRY(add.run());
    }
    {
        Query trim{statements_.trim, "forget old destinations"};
        trim.text(desktop.str()).number(kMostRows);
        DORMOUSE_TRY(trim.run());
    }
    {
        Query mark{statements_.mark, "remember the report of destinations"};
        mark.text(desktop.str()).text(report.reporter).number(report.sequence);
        DORMOUSE_TRY(mark.run());
    }
    return transaction.commit();
}

Result<std::vector<DestinationRow>> DestinationStore::list(const DesktopId& desktop) {
    std::vector<DestinationRow> rows;
    Query query{statements_.list, "list the destinations"};
    query.text(desktop.str());
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const bool more, query.step());
        if (!more) return rows;
        rows.push_back(row_of(query));
    }
}

Result<> DestinationStore::remove(const DesktopId& desktop) {
    DORMOUSE_TRY_ASSIGN(auto transaction, database_->begin());
    for (const auto* statement : {&statements_.remove, &statements_.remove_mark}) {
        Query query{*statement, "forget the destinations"};
        query.text(desktop.str());
        DORMOUSE_TRY(query.run());
    }
    return transaction.commit();
}

}  // namespace dormouse::db

// SPDX-License-Identifier: Apache-2.0
#include "db/desktop_store.h"

#include "db/handles.h"

namespace dormouse::db {

namespace {

// In the order in which bind_row() binds and row_of() reads them.
constexpr std::string_view kColumns =
    "id, name, image, template_hash, state, reason, vm_uuid, memory_mib, cpus, screen_width, screen_height,"
    " accelerator, created_at, started_at, exit_status, exit_output, labels, updated_at, created_by,"
    " network";

const std::string kInsert = fmt::format(
    "INSERT INTO desktops ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"
    " ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
    kColumns);

// Names and ids are one space for those who look a desktop up.
constexpr std::string_view kTaken =
    "SELECT name, id FROM desktops WHERE (id IN (?1, ?2) OR name IN (?1, ?2)) AND id <> ?3 LIMIT 1";

const std::string kFind =
    fmt::format("SELECT {} FROM desktops WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1", kColumns);

const std::string kList = fmt::format("SELECT {} FROM desktops ORDER BY created_at, id", kColumns);

constexpr std::string_view kUpdateState =
    "UPDATE desktops SET state = ?1, reason = ?2, started_at = coalesce(?3, started_at), exit_status = ?4,"
    " exit_output = ?5 WHERE id = ?6";

// All of kColumns but name, image, created_at and labels; in their order.
constexpr std::string_view kUpdate =
    "UPDATE desktops SET template_hash = ?4, state = ?5, reason = ?6, vm_uuid = ?7,"
    " memory_mib = ?8, cpus = ?9, screen_width = ?10, screen_height = ?11, accelerator = ?12,"
    " started_at = ?14, exit_status = ?15, exit_output = ?16, updated_at = ?18,"
    " created_by = ?19, network = ?20 WHERE id = ?1";

constexpr std::string_view kDescribe =
    "UPDATE desktops SET name = ?2, labels = ?3, updated_at = ?4 WHERE id = ?1";

constexpr std::string_view kRemove = "DELETE FROM desktops WHERE id = ?1";

Result<DesktopRow> row_of(const Query& query) {
    DORMOUSE_TRY_ASSIGN(auto id, id_at<DesktopId>(query, 0));
    DORMOUSE_TRY_ASSIGN(auto name, id_at<DesktopName>(query, 1));
    DORMOUSE_TRY_ASSIGN(auto image, id_at<TemplateName>(query, 2));
    DORMOUSE_TRY_ASSIGN(auto labels, labels_from_text(query.text_at(16)));
    return DesktopRow{.id = std::move(id),
                      .name = std::move(name),
                      .image = std::move(image),
                      .template_hash = query.text_at(3),
                      .state = query.text_at(4),
                      .reason = query.maybe_text_at(5),
                      .vm_uuid = query.text_at(6),
                      .memory_mib = static_cast<int>(query.number_at(7)),
                      .cpus = static_cast<int>(query.number_at(8)),
                      .screen_width = static_cast<int>(query.number_at(9)),
                      .screen_height = static_cast<int>(query.number_at(10)),
                      .accelerator = query.text_at(11),
                      .created_at = query.time_at(12),
                      .started_at = query.maybe_time_at(13),
                      .exit_status = query.maybe_text_at(14),
                      .exit_output = query.maybe_text_at(15),
                      .network = query.text_at(19),
                      .labels = std::move(labels),
                      .updated_at = query.time_at(17),
                      .created_by = query.text_at(18)};
}

void bind_row(Query& query, const DesktopRow& row) {
    query.text(row.id.str()).text(row.name.str()).text(row.image.str()).text(row.template_hash);
    query.text(row.state).maybe_text(row.reason).text(row.vm_uuid).number(row.memory_mib).number(row.cpus);
    query.number(row.screen_width).number(row.screen_height).text(row.accelerator).time(row.created_at);
    query.maybe_time(row.started_at).maybe_text(row.exit_status).maybe_text(row.exit_output);
    query.text(labels_to_text(row.labels)).time(row.updated_at).text(row.created_by).text(row.network);
}

// Whether the name or the id is that of another than `but`.
Result<> check_not_taken(const Statement& statement, const DesktopName& name, const DesktopId& id,
                         std::string_view but) {
    Query taken{statement, "look for the desktop's name"};
    taken.text(name.str()).text(id.str()).text(but);
    DORMOUSE_TRY_ASSIGN(const bool found, taken.step());
    if (!found) return {};
    return fail(Errc::Conflict,
                fmt::format("there is already a desktop '{}' (id {})", taken.text_at(0), taken.text_at(1)),
                but.empty()
                    ? "choose another name, leave the name out to get one, or delete that desktop first"
                    : "choose another name, or delete that desktop first");
}

tl::unexpected<Error> not_found(std::string_view id_or_name) {
    return fail(Errc::NotFound, fmt::format("there is no desktop '{}'", id_or_name),
                "list the desktops to see their names");
}

}  // namespace

Result<DesktopStore> DesktopStore::open(Database& database) {
    DORMOUSE_TRY_ASSIGN(auto insert, database.prepare(kInsert));
    DORMOUSE_TRY_ASSIGN(auto taken, database.prepare(kTaken));
    DORMOUSE_TRY_ASSIGN(auto find, database.prepare(kFind));
    DORMOUSE_TRY_ASSIGN(auto list, database.prepare(kList));
    DORMOUSE_TRY_ASSIGN(auto update_state, database.prepare(kUpdateState));
    DORMOUSE_TRY_ASSIGN(auto update, database.prepare(kUpdate));
    DORMOUSE_TRY_ASSIGN(auto describe, database.prepare(kDescribe));
    DORMOUSE_TRY_ASSIGN(auto remove, database.prepare(kRemove));
    return DesktopStore{database, Statements{std::move(insert), std::move(taken), std::move(find),
                                             std::move(list), std::move(update_state), std::move(update),
                                             std::move(describe), std::move(remove)}};
}

Result<> DesktopStore::insert(const DesktopRow& row) {
    DORMOUSE_TRY_ASSIGN(auto transaction, database_->begin());
    DORMOUSE_TRY(check_not_taken(statements_.taken, row.name, row.id, ""));
    Query query{statements_.insert, "remember the desktop"};
    bind_row(query, row);
    DORMOUSE_TRY(query.run());
    return transaction.commit();
}

Result<DesktopRow> DesktopStore::find(std::string_view id_or_name) {
    Query query{statements_.find, "look for the desktop"};
    query.text(id_or_name);
    DORMOUSE_TRY_ASSIGN(auto row, one_row<DesktopRow>(query, row_of));
    if (!row) return not_found(id_or_name);
    return std::move(*row);
}

Result<std::vector<DesktopRow>> DesktopStore::list() {
    Query query{statements_.list, "list the desktops"};
    return all_rows<DesktopRow>(query, row_of);
}

Result<> DesktopStore::update_state(const DesktopId& id, const DesktopStateChange& change) {
    Query query{statements_.update_state, "remember the desktop's state"};
    query.text(change.state).maybe_text(change.reason).maybe_time(change.started_at);
    query.maybe_text(change.exit_status).maybe_text(change.exit_output).text(id.str());
    DORMOUSE_TRY(query.run());
    if (query.changes() == 0) return not_found(id.str());
    return {};
}

Result<> DesktopStore::update(const DesktopRow& row) {
    Query query{statements_.update, "remember the desktop"};
    bind_row(query, row);
    DORMOUSE_TRY(query.run());
    if (query.changes() == 0) return not_found(row.id.str());
    return {};
}

Result<> DesktopStore::describe(const DesktopId& id, const DesktopName& name, const Labels& labels,
                                WallTime now) {
    DORMOUSE_TRY_ASSIGN(auto transaction, database_->begin());
    DORMOUSE_TRY(check_not_taken(statements_.taken, name, id, id.str()));
    Query query{statements_.describe, "remember the desktop's name and labels"};
    query.text(id.str()).text(name.str()).text(labels_to_text(labels)).time(now);
    DORMOUSE_TRY(query.run());
    if (query.changes() == 0) return not_found(id.str());
    return transaction.commit();
}

Result<> DesktopStore::remove(const DesktopId& id) {
    Query query{statements_.remove, "forget the desktop"};
    query.text(id.str());
    DORMOUSE_TRY(query.run());
    if (query.changes() == 0) return not_found(id.str());
    return {};
}

}  // namespace dormouse::db

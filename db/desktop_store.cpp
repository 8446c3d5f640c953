// SPDX-License-Identifier: Apache-2.0
#include "db/desktop_store.h"

#include "db/handles.h"

namespace dormouse::db {

namespace {

constexpr std::string_view kInsert =
    "INSERT INTO desktops (id, name, image, template_hash, state, reason, vm_uuid, memory_mib, cpus, "
    "screen_width,"
    " screen_height, accelerator, created_at, started_at, exit_status, exit_output, network)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";

// Names and ids are one space for those who look a desktop up.
constexpr std::string_view kTaken =
    "SELECT name, id FROM desktops WHERE id IN (?1, ?2) OR name IN (?1, ?2) LIMIT 1";

constexpr std::string_view kFind =
    "SELECT id, name, image, template_hash, state, reason, vm_uuid, memory_mib, cpus, screen_width, "
    "screen_height,"
    " accelerator, created_at, started_at, exit_status, exit_output, network FROM desktops"
    " WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1";

constexpr std::string_view kList =
    "SELECT id, name, image, template_hash, state, reason, vm_uuid, memory_mib, cpus, screen_width, "
    "screen_height,"
    " accelerator, created_at, started_at, exit_status, exit_output, network FROM desktops ORDER BY "
    "created_at, id";

constexpr std::string_view kUpdateState =
    "UPDATE desktops SET state = ?1, reason = ?2, started_at = coalesce(?3, started_at), exit_status = ?4,"
    " exit_output = ?5 WHERE id = ?6";

constexpr std::string_view kUpdate =
    "UPDATE desktops SET template_hash = ?1, state = ?2, reason = ?3, vm_uuid = ?4, memory_mib = ?5, cpus = "
    "?6,"
    " screen_width = ?7, screen_height = ?8, accelerator = ?9, started_at = ?10, exit_status = ?11,"
    " exit_output = ?12, network = ?13 WHERE id = ?14";

constexpr std::string_view kRemove = "DELETE FROM desktops WHERE id = ?1";

Result<DesktopRow> row_of(const Query& query) {
    DORMOUSE_TRY_ASSIGN(auto id, id_at<DesktopId>(query, 0));
    DORMOUSE_TRY_ASSIGN(auto name, id_at<DesktopName>(query, 1));
    DORMOUSE_TRY_ASSIGN(auto image, id_at<TemplateName>(query, 2));
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
                      .network = query.text_at(16)};
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
    DORMOUSE_TRY_ASSIGN(auto remove, database.prepare(kRemove));
    return DesktopStore{database,
                        Statements{std::move(insert), std::move(taken), std::move(find), std::move(list),
                                   std::move(update_state), std::move(update), std::move(remove)}};
}

Result<> DesktopStore::insert(const DesktopRow& row) {
    DORMOUSE_TRY_ASSIGN(auto transaction, database_->begin());
    {
        Query taken{statements_.taken, "look for the desktop's name"};
        taken.text(row.name.str()).text(row.id.str());
        DORMOUSE_TRY_ASSIGN(const bool found, taken.step());
        if (found)
            return fail(
                Errc::Conflict,
                fmt::format("there is already a desktop '{}' (id {})", taken.text_at(0), taken.text_at(1)),
                "choose another name, leave the name out to get one, or delete that desktop first");
    }
    Query query{statements_.insert, "remember the desktop"};
    query.text(row.id.str()).text(row.name.str()).text(row.image.str()).text(row.template_hash);
    query.text(row.state).maybe_text(row.reason).text(row.vm_uuid).number(row.memory_mib).number(row.cpus);
    query.number(row.screen_width).number(row.screen_height).text(row.accelerator);
    query.time(row.created_at)
        .maybe_time(row.started_at)
        .maybe_text(row.exit_status)
        .maybe_text(row.exit_output)
        .text(row.network);
    DORMOUSE_TRY(query.run());
    return transaction.commit();
}

Result<DesktopRow> DesktopStore::find(std::string_view id_or_name) {
    Query query{statements_.find, "look for the desktop"};
    query.text(id_or_name);
    DORMOUSE_TRY_ASSIGN(const bool found, query.step());
    if (!found) return not_found(id_or_name);
    return row_of(query);
}

Result<std::vector<DesktopRow>> DesktopStore::list() {
    std::vector<DesktopRow> rows;
    Query query{statements_.list, "list the desktops"};
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const bool more, query.step());
        if (!more) return rows;
        DORMOUSE_TRY_ASSIGN(auto row, row_of(query));
        rows.push_back(std::move(row));
    }
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
    query.text(row.template_hash).text(row.state).maybe_text(row.reason).text(row.vm_uuid);
    query.number(row.memory_mib).number(row.cpus).number(row.screen_width).number(row.screen_height);
    query.text(row.accelerator)
        .maybe_time(row.started_at)
        .maybe_text(row.exit_status)
        .maybe_text(row.exit_output)
        .text(row.network);
    query.text(row.id.str());
    DORMOUSE_TRY(query.run());
    if (query.changes() == 0) return not_found(row.id.str());
    return {};
}

Result<> DesktopStore::remove(const DesktopId& id) {
    Query query{statements_.remove, "forget the desktop"};
    query.text(id.str());
    DORMOUSE_TRY(query.run());
    if (query.changes() == 0) return not_found(id.str());
    return {};
}

}  // namespace dormouse::db

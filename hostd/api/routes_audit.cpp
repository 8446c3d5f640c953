// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/route_helpers.h"
#include "hostd/schema/time.h"

namespace dormouse::api {

namespace {

std::optional<WallTime> time(QueryReader& query, std::string_view name) {
    const auto text = query.text(name);
    if (!text) return std::nullopt;
    const auto time = schema::parse_time(*text);
    if (time) return *time;
    query.note(name, time.error().message, time.error().hint);
    return std::nullopt;
}

Result<desktop::Command> list_audit(const wsio::HttpRequest& request, const Parameters&) {
    DORMOUSE_TRY(no_body(request));
    QueryReader query{request};
    desktop::ListAudit command;
    command.about = query.text("desktop");
    command.token = query.text("token");
    command.command = query.text("command");
    command.outcome = query.text("outcome");
    command.since = time(query, "since");
    command.until = time(query, "until");
    command.limit = static_cast<int>(query.whole("limit", 1, 1000).value_or(100));
    command.cursor = query.text("cursor");
    DORMOUSE_TRY(query.finish());
    return command;
}

const Route kRoutes[] = {
    {"GET", "/v1/audit", "listAudit", CommandRoute{list_audit, as_json<desktop::AuditPage, 200>}},
};

}  // namespace

std::span<const Route> audit_routes() {
    return kRoutes;
}

}  // namespace dormouse::api

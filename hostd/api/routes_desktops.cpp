// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "hostd/api/route_helpers.h"
#include "hostd/schema/json.h"

namespace dormouse::api {

namespace {

using desktop::Answer;
using desktop::Command;
using wsio::HttpRequest;
using wsio::HttpResponse;

Result<Command> create(const HttpRequest& request, const Parameters&) {
    QueryReader query{request};
    const auto async = query.flag("async");
    DORMOUSE_TRY(query.finish());
    DORMOUSE_TRY_ASSIGN(const auto body, schema::parse<schema::CreateDesktopRequest>(request.body));
    DORMOUSE_TRY_ASSIGN(auto command, to_command(body));
    command.async = async.value_or(prefers_async(request));
    return command;
}

Result<Command> list(const HttpRequest& request, const Parameters&) {
    DORMOUSE_TRY(no_body(request));
    QueryReader query{request};
    desktop::ListDesktops command;
    for (const auto& text : query.all("label")) {
        auto filter = parse_label_filter(text);
        if (filter) {
            command.labels.push_back(std::move(*filter));
        } else {
            query.note("label", filter.error().message, filter.error().hint);
        }
    }
    for (const auto& text : query.all("state")) {
        const auto state = desktop::parse_state(text);
        if (state) {
            command.states.push_back(*state);
        } else {
            query.note("state", fmt::format("'{}' is not a state of a desktop", schema::shown(text)),
                       "states: creating, running, starting, stopping, stopped, failed, deleting");
        }
    }
    if (const auto text = query.text("template")) {
        auto name = TemplateName::parse(*text);
        if (name) {
            command.image = std::move(*name);
        } else {
            query.note("template", name.error().message, name.error().hint);
        }
    }
    command.limit = static_cast<int>(query.whole("limit", 1, 1000).value_or(1000));
    command.cursor = query.text("cursor");
    DORMOUSE_TRY(query.finish());
    return command;
}

Result<Command> update(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto reference, desktop_reference(parameters));
    DORMOUSE_TRY(no_query(request));
    DORMOUSE_TRY_ASSIGN(const auto body, schema::parse<schema::UpdateDesktopRequest>(request.body));
    return to_command(std::move(reference), body);
}

HttpResponse created(const Answer& answer, const HttpRequest& request) {
    if (std::holds_alternative<desktop::OperationInfo>(answer)) return accepted_operation(answer, request);
    auto response = as_json<desktop::DesktopInfo, 201>(answer, request);
    if (const auto* info = std::get_if<desktop::DesktopInfo>(&answer))
        response.headers.emplace_back("Location", fmt::format("/v1/desktops/{}", info->id.str()));
    return response;
}

constexpr auto kDesktop200 = as_json<desktop::DesktopInfo, 200>;
constexpr auto kDesktop202 = as_json<desktop::DesktopInfo, 202>;

const Route kRoutes[] = {
    {"POST", "/v1/desktops", "createDesktop", CommandRoute{create, created, true}},
    {"GET", "/v1/desktops", "listDesktops", CommandRoute{list, as_json<desktop::DesktopPage, 200>}},
    {"GET", "/v1/desktops/{desktop}", "getDesktop",
     CommandRoute{about_desktop<desktop::GetDesktop>, kDesktop200}},
    {"PATCH", "/v1/desktops/{desktop}", "updateDesktop", CommandRoute{update, kDesktop200}},
    {"DELETE", "/v1/desktops/{desktop}", "deleteDesktop",
     CommandRoute{about_desktop<desktop::DeleteDesktop>, no_content}},
    {"POST", "/v1/desktops/{desktop}/start", "startDesktop",
     CommandRoute{about_desktop<desktop::StartDesktop>, kDesktop202}},
    {"POST", "/v1/desktops/{desktop}/stop", "stopDesktop",
     CommandRoute{about_desktop<desktop::StopDesktop>, kDesktop202}},
    {"POST", "/v1/desktops/{desktop}/restart", "restartDesktop",
     CommandRoute{about_desktop<desktop::RestartDesktop>, kDesktop202}},
};

}  // namespace

std::span<const Route> desktop_routes() {
    return kRoutes;
}

}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "hostd/api/route_helpers.h"

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
    {"POST", "/v1/desktops", "createDesktop", CommandRoute{create, created}},
    {"GET", "/v1/desktops", "listDesktops",
     CommandRoute{about_nothing<desktop::ListDesktops>, as_json<std::vector<desktop::DesktopInfo>, 200>}},
    {"GET", "/v1/desktops/{desktop}", "getDesktop",
     CommandRoute{about_desktop<desktop::GetDesktop>, kDesktop200}},
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

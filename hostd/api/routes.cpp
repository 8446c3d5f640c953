// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/routes.h"

#include <fmt/format.h>

#include "hostd/api/pages.h"
#include "hostd/api/responses.h"
#include "hostd/api/translate.h"
#include "hostd/schema/schema.h"

namespace dormouse::api {

namespace {

using desktop::Answer;
using desktop::Command;
using wsio::HttpRequest;
using wsio::HttpResponse;

// ---- requests

template <class C>
Result<Command> about_desktop(const HttpRequest& request, const Parameters& parameters) {
    const auto& reference = parameters.front();
    if (!is_identifier(reference)) return bad_identifier("desktop id or name", reference);
    DORMOUSE_TRY(schema::parse<schema::EmptyRequest>(request.body));
    return C{reference};
}

template <class C>
Result<Command> about_nothing(const HttpRequest& request, const Parameters&) {
    DORMOUSE_TRY(schema::parse<schema::EmptyRequest>(request.body));
    return C{};
}

template <class Body>
Result<Command> about_body(const HttpRequest& request, const Parameters&) {
    DORMOUSE_TRY_ASSIGN(const auto body, schema::parse<Body>(request.body));
    DORMOUSE_TRY_ASSIGN(auto command, to_command(body));
    return command;
}

Result<Command> act(const HttpRequest& request, const Parameters& parameters) {
    const auto& reference = parameters.front();
    if (!is_identifier(reference)) return bad_identifier("desktop id or name", reference);
    DORMOUSE_TRY_ASSIGN(const auto body, schema::parse<schema::ActionsRequest>(request.body));
    desktop::Act command{.desktop = reference, .actions = {}, .options = options_of(body)};
    for (const auto& action : body.actions) command.actions.push_back(to_command(action));
    return command;
}

Result<Command> run_program(const HttpRequest& request, const Parameters& parameters) {
    const auto& reference = parameters.front();
    if (!is_identifier(reference)) return bad_identifier("desktop id or name", reference);
    DORMOUSE_TRY_ASSIGN(auto body, schema::parse<schema::ExecRequest>(request.body));
    return to_command(reference, std::move(body));
}

Result<Command> delete_token(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto token, TokenId::parse(parameters.front()));
    DORMOUSE_TRY(schema::parse<schema::EmptyRequest>(request.body));
    return desktop::DeleteToken{std::move(token)};
}

// ---- answers

HttpResponse unexpected_answer() {
    return error_response({Errc::Internal, "the command gave an answer of another kind", {}, 0});
}

template <class T, int Status>
HttpResponse as_json(const Answer& answer, const HttpRequest&) {
    const auto* value = std::get_if<T>(&answer);
    if (!value) return unexpected_answer();
    return HttpResponse::json(Status, schema::to_json(to_schema(*value)));
}

HttpResponse created_desktop(const Answer& answer, const HttpRequest& request) {
    auto response = as_json<desktop::DesktopInfo, 201>(answer, request);
    if (const auto* info = std::get_if<desktop::DesktopInfo>(&answer))
        response.headers.emplace_back("Location", fmt::format("/v1/desktops/{}", info->id.str()));
    return response;
}

HttpResponse no_content(const Answer&, const HttpRequest&) {
    return {.status = 204, .headers = {}, .body = {}};
}

HttpResponse picture(const Answer& answer, const HttpRequest& request) {
    const auto* value = std::get_if<desktop::Picture>(&answer);
    if (!value || !value->bytes) return unexpected_answer();
    return picture_response(*value, wsio::find_header(request.headers, "if-none-match"));
}

HttpResponse acted(const Answer& answer, const HttpRequest&) {
    const auto* value = std::get_if<desktop::ActAnswer>(&answer);
    if (!value) return unexpected_answer();
    const int status = value->failure ? schema::http_status(value->failure->code) : 200;
    return HttpResponse::json(status, schema::to_json(to_schema(*value)));
}

HttpResponse health(const HttpRequest&, const Parameters&) {
    return HttpResponse::json(200, schema::to_json(schema::Health{}));
}

HttpResponse version(const desktop::VersionInfo& info) {
    return HttpResponse::json(200, schema::to_json(to_schema(info)));
}

// ---- the table

constexpr auto kDesktop200 = as_json<desktop::DesktopInfo, 200>;
constexpr auto kDesktop202 = as_json<desktop::DesktopInfo, 202>;

const Route kRoutes[] = {
    {"GET", "/healthz", "getHealth", OpenRoute{health}},
    {"GET", "/v1/version", "getVersion", AboutRoute{version}},

    {"POST", "/v1/desktops", "createDesktop",
     CommandRoute{about_body<schema::CreateDesktopRequest>, created_desktop}},
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
    {"GET", "/v1/desktops/{desktop}/destinations", "listDestinations",
     CommandRoute{about_desktop<desktop::ListDestinations>,
                  as_json<std::vector<desktop::DestinationInfo>, 200>}},
    {"GET", "/v1/desktops/{desktop}/screenshot", "takeScreenshot",
     CommandRoute{about_desktop<desktop::TakeScreenshot>, picture}},
    {"POST", "/v1/desktops/{desktop}/actions", "act", CommandRoute{act, acted}},
    {"POST", "/v1/desktops/{desktop}/exec", "runProgram",
     CommandRoute{run_program, as_json<desktop::ProgramResult, 200>}},

    {"POST", "/v1/tokens", "createToken",
     CommandRoute{about_body<schema::CreateTokenRequest>, as_json<desktop::NewToken, 201>}},
    {"GET", "/v1/tokens", "listTokens",
     CommandRoute{about_nothing<desktop::ListTokens>, as_json<std::vector<desktop::TokenInfo>, 200>}},
    {"DELETE", "/v1/tokens/{token}", "deleteToken", CommandRoute{delete_token, no_content}},

    {"GET", "/", "getOverviewPage", OpenRoute{overview_page}},
    {"GET", "/desktops/{desktop}", "getDesktopPage", OpenRoute{desktop_page}},
    {"GET", "/assets/{file}", "getPageFile", OpenRoute{page_file}},
};

}  // namespace

std::span<const Route> route_table() {
    return kRoutes;
}

}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
// Looking at a screen, acting on it, running programs.
#include "hostd/api/picture_query.h"
#include "hostd/api/route_helpers.h"

namespace dormouse::api {

namespace {

using desktop::Answer;
using desktop::Command;
using wsio::HttpRequest;
using wsio::HttpResponse;

Result<Command> act(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto reference, desktop_reference(parameters));
    DORMOUSE_TRY(no_query(request));
    DORMOUSE_TRY_ASSIGN(const auto body, schema::parse<schema::ActionsRequest>(request.body));
    desktop::Act command{.desktop = std::move(reference), .actions = {}, .options = options_of(body)};
    for (const auto& action : body.actions) command.actions.push_back(to_command(action));
    return command;
}

Result<Command> run_program(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(const auto reference, desktop_reference(parameters));
    DORMOUSE_TRY(no_query(request));
    DORMOUSE_TRY_ASSIGN(auto body, schema::parse<schema::ExecRequest>(request.body));
    return to_command(reference, std::move(body));
}

Result<Command> take_screenshot(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto reference, desktop_reference(parameters));
    DORMOUSE_TRY(no_body(request));
    QueryReader query{request};
    const auto options = read_picture_query(query);
    DORMOUSE_TRY(query.finish());
    return desktop::TakeScreenshot{.desktop = std::move(reference), .picture = to_command(options)};
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

const Route kRoutes[] = {
    {"GET", "/v1/desktops/{desktop}/screenshot", "takeScreenshot", CommandRoute{take_screenshot, picture}},
    {"POST", "/v1/desktops/{desktop}/actions", "act", CommandRoute{act, acted}},
    {"POST", "/v1/desktops/{desktop}/exec", "runProgram",
     CommandRoute{run_program, as_json<desktop::ProgramResult, 200>}},
};

}  // namespace

std::span<const Route> screen_routes() {
    return kRoutes;
}

}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hostd/base/result.h"
#include "hostd/desktop/commands.h"
#include "hostd/desktop/gateway.h"
#include "hostd/wsio/http_message.h"

namespace dormouse::api {

using Parameters = std::vector<std::string>;  // what stands for each {name} of the pattern, in order

// Answered by the adapter itself, without a token.
struct OpenRoute {
    wsio::HttpResponse (*answer)(const wsio::HttpRequest& request, const Parameters& parameters);
};
// Tells what this server is.
struct AboutRoute {
    wsio::HttpResponse (*answer)(const desktop::VersionInfo& info);
};
// Becomes one command of the domain, and its answer an answer.
struct CommandRoute {
    Result<desktop::Command> (*command)(const wsio::HttpRequest& request, const Parameters& parameters);
    wsio::HttpResponse (*answer)(const desktop::Answer& answer, const wsio::HttpRequest& request);
    bool takes_once_key = false;  // an Idempotency-Key sees to it that it is done once
};
// What happens, for as long as the client listens.
struct EventsRoute {};

struct Route {
    std::string_view method;        // a GET route answers HEAD too
    std::string_view pattern;       // "/v1/desktops/{desktop}"
    std::string_view operation_id;  // as in docs/api/openapi.yaml
    std::variant<OpenRoute, AboutRoute, CommandRoute, EventsRoute> handler;
};

// All of the API. Every row is in docs/api/openapi.yaml, and nothing else is.
std::span<const Route> route_table();

// Its groups, routes_*.cpp.
std::span<const Route> audit_routes();
std::span<const Route> desktop_routes();
std::span<const Route> screen_routes();
std::span<const Route> network_routes();
std::span<const Route> operation_routes();
std::span<const Route> template_routes();
std::span<const Route> token_routes();

}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/route_helpers.h"

namespace dormouse::api {

namespace {

using desktop::Command;
using wsio::HttpRequest;

Result<Command> get_operation(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto id, OperationId::parse(parameters.front()));
    DORMOUSE_TRY(no_body(request));
    QueryReader query{request};
    const auto wait = query.number("wait", 0, static_cast<double>(desktop::kLongestOperationWait.count()));
    DORMOUSE_TRY(query.finish());
    const std::chrono::duration<double> seconds{wait.value_or(0)};
    return desktop::GetOperation{std::move(id), std::chrono::duration_cast<Duration>(seconds)};
}

Result<Command> cancel_operation(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto id, OperationId::parse(parameters.front()));
    DORMOUSE_TRY(no_body(request));
    DORMOUSE_TRY(no_query(request));
    return desktop::CancelOperation{std::move(id)};
}

Result<Command> get_operation_log(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto id, OperationId::parse(parameters.front()));
    DORMOUSE_TRY(no_body(request));
    QueryReader query{request};
    const auto offset = query.whole("offset", 0, INT64_MAX);
    DORMOUSE_TRY(query.finish());
    return desktop::GetOperationLog{std::move(id), static_cast<std::uint64_t>(offset.value_or(0))};
}

const Route kRoutes[] = {
    {"GET", "/v1/operations", "listOperations",
     CommandRoute{about_nothing<desktop::ListOperations>, as_json<std::vector<desktop::OperationInfo>, 200>}},
    {"GET", "/v1/operations/{operation}", "getOperation",
     CommandRoute{get_operation, as_json<desktop::OperationInfo, 200>}},
    {"GET", "/v1/operations/{operation}/log", "getOperationLog",
     CommandRoute{get_operation_log, as_json<desktop::OperationLog, 200>}},
    {"POST", "/v1/operations/{operation}/cancel", "cancelOperation",
     CommandRoute{cancel_operation, as_json<desktop::OperationInfo, 200>}},
};

}  // namespace

std::span<const Route> operation_routes() {
    return kRoutes;
}

}  // namespace dormouse::api

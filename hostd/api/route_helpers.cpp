// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/route_helpers.h"

#include <fmt/format.h>

#include "hostd/wsio/head_reader.h"

namespace dormouse::api {

using wsio::HttpRequest;
using wsio::HttpResponse;

HttpResponse unexpected_answer() {
    return error_response({Errc::Internal, "the command gave an answer of another kind", {}, 0});
}

HttpResponse no_content(const desktop::Answer&, const HttpRequest&) {
    return {.status = 204, .headers = {}, .body = {}};
}

bool prefers_async(const HttpRequest& request) {
    return wsio::has_token(wsio::find_header(request.headers, "prefer"), "respond-async");
}

HttpResponse accepted_operation(const desktop::Answer& answer, const HttpRequest& request) {
    const auto* info = std::get_if<desktop::OperationInfo>(&answer);
    if (!info) return unexpected_answer();
    auto response = HttpResponse::json(202, schema::to_json(schema::OperationAnswer{to_schema(*info)}));
    response.headers.emplace_back("Location", fmt::format("/v1/operations/{}", info->id.str()));
    if (prefers_async(request)) response.headers.emplace_back("Preference-Applied", "respond-async");
    return response;
}

}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
// What most rows of the route table are made of.
#pragma once

#include <string>

#include "hostd/api/query.h"
#include "hostd/api/responses.h"
#include "hostd/api/routes.h"
#include "hostd/api/translate.h"
#include "hostd/schema/schema.h"

namespace dormouse::api {

// ---- requests

// The {desktop} of the path.
inline Result<std::string> desktop_reference(const Parameters& parameters) {
    const auto& reference = parameters.front();
    if (!is_identifier(reference)) return bad_identifier("desktop id or name", reference);
    return reference;
}

inline Result<> no_body(const wsio::HttpRequest& request) {
    DORMOUSE_TRY(schema::parse<schema::EmptyRequest>(request.body));
    return {};
}

template <class C>
Result<desktop::Command> about_desktop(const wsio::HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto reference, desktop_reference(parameters));
    DORMOUSE_TRY(no_body(request));
    DORMOUSE_TRY(no_query(request));
    return C{std::move(reference)};
}

template <class C>
Result<desktop::Command> about_nothing(const wsio::HttpRequest& request, const Parameters&) {
    DORMOUSE_TRY(no_body(request));
    DORMOUSE_TRY(no_query(request));
    return C{};
}

template <class Body>
Result<desktop::Command> about_body(const wsio::HttpRequest& request, const Parameters&) {
    DORMOUSE_TRY(no_query(request));
    DORMOUSE_TRY_ASSIGN(const auto body, schema::parse<Body>(request.body));
    DORMOUSE_TRY_ASSIGN(auto command, to_command(body));
    return command;
}

// ---- answers

wsio::HttpResponse unexpected_answer();

template <class T, int Status>
wsio::HttpResponse as_json(const desktop::Answer& answer, const wsio::HttpRequest&) {
    const auto* value = std::get_if<T>(&answer);
    if (!value) return unexpected_answer();
    return wsio::HttpResponse::json(Status, schema::to_json(to_schema(*value)));
}

wsio::HttpResponse no_content(const desktop::Answer& answer, const wsio::HttpRequest& request);

// 202 with {"operation": {...}} and its Location.
wsio::HttpResponse accepted_operation(const desktop::Answer& answer, const wsio::HttpRequest& request);

// Whether the client asks for a 202 at once: "Prefer: respond-async".
bool prefers_async(const wsio::HttpRequest& request);

}  // namespace dormouse::api

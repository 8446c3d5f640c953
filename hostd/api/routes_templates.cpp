// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/route_helpers.h"

namespace dormouse::api {

namespace {

using desktop::Command;
using wsio::HttpRequest;

template <class C>
Result<Command> about_template(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto name, TemplateName::parse(parameters.front()));
    DORMOUSE_TRY(no_body(request));
    DORMOUSE_TRY(no_query(request));
    return C{std::move(name)};
}

Result<Command> get_log(const HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto name, TemplateName::parse(parameters.front()));
    DORMOUSE_TRY(no_body(request));
    QueryReader query{request};
    const auto offset = query.whole("offset", 0, INT64_MAX);
    DORMOUSE_TRY(query.finish());
    return desktop::GetTemplateLog{std::move(name), static_cast<std::uint64_t>(offset.value_or(0))};
}

const Route kRoutes[] = {
    {"POST", "/v1/templates", "buildTemplate",
     CommandRoute{about_body<schema::BuildTemplateRequest>, accepted_operation, true}},
    {"GET", "/v1/templates", "listTemplates",
     CommandRoute{about_nothing<desktop::ListTemplates>, as_json<std::vector<desktop::TemplateInfo>, 200>}},
    {"GET", "/v1/templates/{template}", "getTemplate",
     CommandRoute{about_template<desktop::GetTemplate>, as_json<desktop::TemplateInfo, 200>}},
    {"GET", "/v1/templates/{template}/log", "getTemplateLog",
     CommandRoute{get_log, as_json<desktop::OperationLog, 200>}},
    {"DELETE", "/v1/templates/{template}", "deleteTemplate",
     CommandRoute{about_template<desktop::DeleteTemplate>, no_content}},
};

}  // namespace

std::span<const Route> template_routes() {
    return kRoutes;
}

}  // namespace dormouse::api

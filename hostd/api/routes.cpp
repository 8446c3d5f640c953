// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/routes.h"

#include "hostd/api/pages.h"
#include "hostd/api/route_helpers.h"

namespace dormouse::api {

namespace {

wsio::HttpResponse health(const wsio::HttpRequest&, const Parameters&) {
    return wsio::HttpResponse::json(200, schema::to_json(schema::Health{}));
}

wsio::HttpResponse version(const desktop::VersionInfo& info) {
    return wsio::HttpResponse::json(200, schema::to_json(to_schema(info)));
}

const Route kServiceRoutes[] = {
    {"GET", "/healthz", "getHealth", OpenRoute{health}},
    {"GET", "/v1/version", "getVersion", AboutRoute{version}},
    {"GET", "/v1/events", "watchEvents", EventsRoute{}},
};

const Route kPageRoutes[] = {
    {"GET", "/", "getOverviewPage", OpenRoute{overview_page}},
    {"GET", "/desktops/{desktop}", "getDesktopPage", OpenRoute{desktop_page}},
    {"GET", "/assets/{file}", "getPageFile", OpenRoute{page_file}},
};

}  // namespace

std::span<const Route> route_table() {
    static const auto all = [] {
        std::vector<Route> routes;
        for (const auto& group : {std::span<const Route>{kServiceRoutes}, desktop_routes(), screen_routes(),
                                  network_routes(), operation_routes(), template_routes(), token_routes(),
                                  audit_routes(), std::span<const Route>{kPageRoutes}})
            routes.insert(routes.end(), group.begin(), group.end());
        return routes;
    }();
    return all;
}

}  // namespace dormouse::api

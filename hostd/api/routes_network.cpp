// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/route_helpers.h"

namespace dormouse::api {

namespace {

const Route kRoutes[] = {
    {"GET", "/v1/desktops/{desktop}/destinations", "listDestinations",
     CommandRoute{about_desktop<desktop::ListDestinations>,
                  as_json<std::vector<desktop::DestinationInfo>, 200>}},
};

}  // namespace

std::span<const Route> network_routes() {
    return kRoutes;
}

}  // namespace dormouse::api

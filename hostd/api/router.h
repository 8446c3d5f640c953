// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "hostd/api/routes.h"

namespace dormouse::api {

struct RouteMatch {
    const Route* route;
    Parameters parameters;
};
struct NoSuchPath {};
struct OtherMethods {
    std::string allow;  // "GET, HEAD, DELETE"
};

// Finds the row of the table. `path` is decoded, as wsio::HttpRequest has it. A
// {name} stands for one segment of at least one character, whatever it is.
std::variant<RouteMatch, NoSuchPath, OtherMethods> find_route(std::string_view method, std::string_view path);

}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/router.h"

#include <optional>
#include <utility>

namespace dormouse::api {

namespace {

// Takes the first segment off a path that begins with '/'.
std::string_view take_segment(std::string_view& path) {
    path.remove_prefix(1);
    const auto segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    return segment;
}

std::optional<Parameters> match(std::string_view pattern, std::string_view path) {
    Parameters parameters;
    while (!pattern.empty() && !path.empty() && path.front() == '/') {
        const auto expected = take_segment(pattern);
        const auto actual = take_segment(path);
        const bool parameter = !expected.empty() && expected.front() == '{';
        if (parameter ? actual.empty() : actual != expected) return std::nullopt;
        if (parameter) parameters.emplace_back(actual);
    }
    if (!pattern.empty() || !path.empty()) return std::nullopt;
    return parameters;
}

void add(std::string& list, std::string_view method) {
    if (!list.empty()) list += ", ";
    list += method;
}

}  // namespace

std::variant<RouteMatch, NoSuchPath, OtherMethods> find_route(std::string_view method,
                                                              std::string_view path) {
    const auto wanted = method == "HEAD" ? "GET" : method;
    std::string allow;
    for (const auto& route : route_table()) {
        auto parameters = match(route.pattern, path);
        if (!parameters) continue;
        if (route.method == wanted) return RouteMatch{&route, std::move(*parameters)};
        add(allow, route.method);
        if (route.method == "GET") add(allow, "HEAD");
    }
    if (allow.empty()) return NoSuchPath{};
    return OtherMethods{std::move(allow)};
}

}  // namespace dormouse::api

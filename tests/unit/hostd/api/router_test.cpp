// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/router.h"

#include <gtest/gtest.h>

#include <set>

namespace dormouse::api {
namespace {

std::string found(std::string_view method, std::string_view path) {
    const auto result = find_route(method, path);
    if (const auto* match = std::get_if<RouteMatch>(&result)) {
        std::string text{match->route->operation_id};
        for (const auto& parameter : match->parameters) text += " " + parameter;
        return text;
    }
    if (const auto* other = std::get_if<OtherMethods>(&result)) return "allows " + other->allow;
    return "nothing";
}

TEST(Router, FindsTheRowForMethodAndPath) {
    EXPECT_EQ(found("GET", "/healthz"), "getHealth");
    EXPECT_EQ(found("GET", "/"), "getOverviewPage");
    EXPECT_EQ(found("GET", "/v1/desktops"), "listDesktops");
    EXPECT_EQ(found("POST", "/v1/desktops"), "createDesktop");
    EXPECT_EQ(found("GET", "/v1/desktops/shop"), "getDesktop shop");
    EXPECT_EQ(found("POST", "/v1/desktops/shop/stop"), "stopDesktop shop");
    EXPECT_EQ(found("DELETE", "/v1/tokens/t-1"), "deleteToken t-1");
    EXPECT_EQ(found("GET", "/desktops/shop"), "getDesktopPage shop");
    EXPECT_EQ(found("GET", "/v1/desktops/a b:%c"), "getDesktop a b:%c")
        << "what it may be is for others to say";
}

TEST(Router, AnswersHeadWhereItAnswersGet) {
    EXPECT_EQ(found("HEAD", "/v1/desktops/shop/screenshot"), "takeScreenshot shop");
    EXPECT_EQ(found("HEAD", "/v1/desktops/shop/stop"), "allows POST");
}

TEST(Router, SaysWhichMethodsAPathHas) {
    EXPECT_EQ(found("PUT", "/v1/desktops"), "allows POST, GET, HEAD");
    EXPECT_EQ(found("POST", "/v1/desktops/shop"), "allows GET, HEAD, PATCH, DELETE");
    EXPECT_EQ(found("OPTIONS", "/v1/desktops/shop/actions"), "allows POST");
    EXPECT_EQ(found("get", "/healthz"), "allows GET, HEAD");
}

TEST(Router, KnowsNoOtherPaths) {
    for (const auto* path : {"", "/v1", "/v1/", "/v1/desktops/", "/v1/desktops/a/", "/v1/desktops/a/b",
                             "/v2/desktops", "/v1/desktops/a/stop/", "/V1/desktops", "/healthz/", "//",
                             "v1/desktops", "/assets/", "/assets/a/b", "/v1/desktops//stop"})
        EXPECT_EQ(found("GET", path), "nothing") << path;
}

TEST(RouteTable, HasEachOperationAndEachMethodOfAPathOnce) {
    std::set<std::string> operations;
    std::set<std::pair<std::string, std::string>> rows;
    for (const auto& route : route_table()) {
        EXPECT_TRUE(operations.insert(std::string{route.operation_id}).second) << route.operation_id;
        EXPECT_TRUE(rows.emplace(route.method, route.pattern).second) << route.pattern;
    }
}

}  // namespace
}  // namespace dormouse::api

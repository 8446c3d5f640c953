// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/http_target.h"

#include <gtest/gtest.h>

namespace dormouse::wsio {
namespace {

bool refused(std::string_view target) {
    const auto result = parse_target(target);
    return !result && result.error().status == 400;
}

TEST(HttpTarget, DecodesPathAndQuery) {
    const auto target = parse_target("/v1/desktops/na%C3%AFve?wake=false&text=a+b%26c&empty=&flag");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->path, "/v1/desktops/naïve");
    EXPECT_EQ(target->query.find("wake")->second, "false");
    EXPECT_EQ(target->query.find("text")->second, "a b&c");
    EXPECT_EQ(target->query.find("empty")->second, "");
    EXPECT_EQ(target->query.find("flag")->second, "");
}

TEST(HttpTarget, KeepsASlashAtTheEndAndAPlusInThePath) {
    EXPECT_EQ(parse_target("/")->path, "/");
    EXPECT_EQ(parse_target("/a+b/")->path, "/a+b/");
    EXPECT_EQ(parse_target("/...")->path, "/...");
}

TEST(HttpTarget, TakesAWholeUrl) {
    EXPECT_EQ(parse_target("http://127.0.0.1:8760/v1/version")->path, "/v1/version");
    EXPECT_TRUE(refused("http://127.0.0.1:8760"));
    EXPECT_TRUE(refused("http://host?x=/y"));
    EXPECT_TRUE(refused("https://host/"));
}

TEST(HttpTarget, RefusesPathsThatWalkOrHide) {
    for (const auto* target : {"/..", "/../etc/passwd", "/a/../b", "/a/.", "/./a", "//", "//a", "/a//b",
                               "/%2e%2e/a", "/a/%2E%2E", "/a%2fb", "/a%2Fb", "/%2e%2e%2fa", "*", "v1", ""})
        EXPECT_TRUE(refused(target)) << target;
}

TEST(HttpTarget, RefusesBadEscapesControlCharactersAndBrokenUtf8) {
    for (const auto* target :
         {"/%", "/%4", "/%zz", "/%00", "/a%0d%0ab", "/%7f", "/%1b", "/\xc3\xaf", "/a#b", "/a b", "/%ff",
          "/%c0%af", "/%ed%a0%80", "/%f4%90%80%80", "/%e2%82", "/?a=%00", "/?a=%", "/?%ff"})
        EXPECT_TRUE(refused(target)) << target;
}

TEST(HttpTarget, KeepsTheOrderOfAParameterGivenTwice) {
    const auto query = parse_target("/?a=2&b=2&a=1")->query;
    EXPECT_EQ(query.count("a"), 2u);
    EXPECT_EQ(query.find("a")->second, "2");
    EXPECT_EQ(std::next(query.find("a"))->second, "1");
}

}  // namespace
}  // namespace dormouse::wsio

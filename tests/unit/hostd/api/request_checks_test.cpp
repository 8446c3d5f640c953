// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/request_checks.h"

#include <gtest/gtest.h>

#include "hostd/api/responses.h"

namespace dormouse::api {
namespace {

wsio::HttpRequest with(std::string method, wsio::Headers headers, std::string body = {}) {
    wsio::HttpRequest request;
    request.method = std::move(method);
    request.path = "/v1/desktops";
    request.headers = std::move(headers);
    request.body = std::move(body);
    return request;
}

std::string token_in(const std::string& header) {
    const auto token = bearer_token(with("GET", {{"authorization", header}}));
    return token ? *token : token.error().message;
}

TEST(BearerToken, IsTakenFromTheHeader) {
    EXPECT_EQ(token_in("Bearer dm_abc"), "dm_abc");
    EXPECT_EQ(token_in("bearer  dm_abc "), "dm_abc") << "the scheme has no case";
}

TEST(BearerToken, IsAskedForInTheSameWordsAlways) {
    for (const auto* header : {"", "Bearer", "Basic ZG06eA==", "dm_abc", "Bearerdm_abc"})
        EXPECT_EQ(token_in(header), "this needs a token") << header;
    EXPECT_EQ(bearer_token(with("GET", {})).error().code, Errc::Unauthenticated);
}

TEST(BearerToken, ThatCannotBeOneIsSaidToBeUnknown) {
    for (const auto& header :
         {std::string{"Bearer  "}, std::string{"Bearer a b"}, std::string{"Bearer a,Bearer b"},
          std::string{"Bearer \xff"}, "Bearer " + std::string(201, 'a')})
        EXPECT_EQ(token_in(header), "this token is not known") << header;
}

Result<> from_origin(const std::string& method, const std::string& origin) {
    return check_origin(with(method, {{"host", "127.0.0.1:8760"}, {"origin", origin}}));
}

TEST(Origin, OfThisServerMayChangeThings) {
    EXPECT_TRUE(from_origin("POST", "http://127.0.0.1:8760"));
    EXPECT_TRUE(from_origin("DELETE", "https://127.0.0.1:8760")) << "behind a proxy with TLS";
    EXPECT_TRUE(check_origin(with("POST", {{"host", "127.0.0.1:8760"}}))) << "a program";
    EXPECT_TRUE(check_origin(with("POST", {{"host", "Desk.Example"}, {"origin", "https://desk.example"}})));
}

TEST(Origin, OfAnotherSiteMayNot) {
    for (const auto* origin : {"http://evil.example", "null", "http://127.0.0.1:8761", "http://127.0.0.1",
                               "http://127.0.0.1:8760.evil.example", "ftp://127.0.0.1:8760", "http://"}) {
        EXPECT_EQ(from_origin("POST", origin).error().code, Errc::Denied) << origin;
        EXPECT_TRUE(from_origin("GET", origin)) << "no CORS headers: it cannot read the answer";
    }
    EXPECT_FALSE(check_origin(with("POST", {{"origin", "http://"}})));
}

TEST(ContentType, IsJsonOrNotSaid) {
    EXPECT_TRUE(check_content_type(with("POST", {}, "{}")));
    EXPECT_TRUE(check_content_type(with("POST", {{"content-type", "application/json"}}, "{}")));
    EXPECT_TRUE(
        check_content_type(with("POST", {{"content-type", "Application/JSON; charset=utf-8"}}, "{}")));
    EXPECT_TRUE(check_content_type(with("POST", {{"content-type", "text/plain"}})));
    for (const auto* type :
         {"application/x-www-form-urlencoded", "text/plain", "application/jsonp", "multipart/form-data"})
        EXPECT_EQ(check_content_type(with("POST", {{"content-type", type}}, "{}")).error().code,
                  Errc::InvalidArgument);
}

TEST(Etag, IsMatchedAsTheRfcSays) {
    EXPECT_TRUE(matches_etag("\"a\"", "\"a\""));
    EXPECT_TRUE(matches_etag("\"b\", W/\"a\"", "\"a\""));
    EXPECT_TRUE(matches_etag("*", "\"a\""));
    EXPECT_FALSE(matches_etag("", "\"a\""));
    EXPECT_FALSE(matches_etag("\"b\"", "\"a\""));
    EXPECT_FALSE(matches_etag("a", "\"a\""));
    EXPECT_NE(content_etag("a"), content_etag("b"));
}

}  // namespace
}  // namespace dormouse::api

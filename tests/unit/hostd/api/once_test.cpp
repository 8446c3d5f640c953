// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/once.h"

#include <gtest/gtest.h>

#include "served_api.h"

namespace dormouse::api {
namespace {

wsio::HttpRequest request(const std::string& key, const std::string& body = "{}") {
    wsio::HttpRequest out;
    out.method = "POST";
    out.path = "/v1/desktops";
    out.headers.emplace("idempotency-key", key);
    out.body = body;
    return out;
}

TEST(Once, TakesKeysOfPrintableCharacters) {
    EXPECT_EQ((*once_key(request("k!~")))->key, "k!~");
    EXPECT_TRUE(once_key(request(std::string(255, 'k'))));
    for (const auto& bad : {std::string{}, std::string{"a b"}, std::string{"a\tb"}, std::string{"\xc3\xa9"},
                            std::string(256, 'k'), std::string{"a, b"}})
        EXPECT_EQ(once_key(request(bad)).error().code, Errc::InvalidArgument) << bad;
    EXPECT_FALSE(once_key({})->has_value());
}

TEST(Once, TellsRequestsApart) {
    const auto asked = [](wsio::HttpRequest of) { return (*once_key(of))->request; };
    EXPECT_EQ(asked(request("a")), asked(request("b")));
    EXPECT_NE(asked(request("a")), asked(request("a", "{ }")));
    auto other = request("a");
    other.query.emplace("async", "true");
    EXPECT_NE(asked(request("a")), asked(other));
    auto path = request("a");
    path.path = "/v1/tokens";
    EXPECT_NE(asked(request("a")), asked(path));
}

TEST(Once, AnAnswerComesBackAsItWas) {
    wsio::HttpResponse response = wsio::HttpResponse::json(201, R"({"a":"\u00e9"})");
    response.headers.emplace_back("Location", "/v1/desktops/d-1");
    const auto again = unpack_answer(pack_answer(response)).value();
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(*again.body, *response.body);
    ASSERT_EQ(again.headers.size(), 3u);
    EXPECT_EQ(again.headers[1].second, "/v1/desktops/d-1");
    EXPECT_EQ(again.headers[2].first, "Idempotency-Replayed");
    for (const char* bad :
         {"", "[]", "{}", R"({"status":"200","headers":[],"body":""})",
          R"({"status":500,"headers":[],"body":""})", R"({"status":200,"headers":[1],"body":""})"})
        EXPECT_EQ(unpack_answer(bad).error().code, Errc::Corrupt) << bad;
}

using OnceServedTest = ServedApi;

TEST_F(OnceServedTest, TheSameRequestIsAnsweredAgainAndDoneOnce) {
    const auto first = ask("POST", "/v1/desktops", R"({"name":"shop"})", {{"Idempotency-Key", "k-1"}});
    EXPECT_EQ(first.status, 201);
    EXPECT_FALSE(first.headers.contains("idempotency-replayed"));
    const auto second = ask("POST", "/v1/desktops", R"({"name":"shop"})", {{"Idempotency-Key", "k-1"}});
    EXPECT_EQ(second.status, 201);
    EXPECT_EQ(second.body, first.body);
    EXPECT_EQ(wsio::find_header(second.headers, "location"), wsio::find_header(first.headers, "location"));
    EXPECT_EQ(wsio::find_header(second.headers, "idempotency-replayed"), "true");
    EXPECT_EQ(gateway.commands().size(), 1u);
    EXPECT_EQ(ask("POST", "/v1/desktops", R"({"name":"other"})", {{"Idempotency-Key", "k-1"}}).status, 409);
    EXPECT_EQ(ask("POST", "/v1/desktops", R"({"name":"shop"})", {{"Idempotency-Key", "a b"}}).status, 400);
}

TEST_F(OnceServedTest, WhatFailedMayBeTriedAgain) {
    bool broken = true;
    gateway.handler = [&](desktop::Command, Cancel) -> Task<Result<desktop::Answer>> {
        if (std::exchange(broken, false)) co_return fail(Errc::Unavailable, "no template yet");
        co_return desktop::Answer{example_desktop()};
    };
    EXPECT_EQ(ask("POST", "/v1/desktops", "", {{"Idempotency-Key", "k-1"}}).status, 503);
    EXPECT_EQ(ask("POST", "/v1/desktops", "", {{"Idempotency-Key", "k-1"}}).status, 201);
}

TEST_F(OnceServedTest, OtherRequestsDoNotCareAboutKeys) {
    EXPECT_EQ(ask("GET", "/v1/desktops", "", {{"Idempotency-Key", "a b"}}).status, 200);
    EXPECT_EQ(ask("POST", "/v1/desktops/shop/stop", "", {{"Idempotency-Key", "k"}}).status, 202);
}

}  // namespace
}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hostd/wsio/http_target.h"

namespace dormouse::api {
namespace {

using testing::ElementsAre;

wsio::HttpRequest request_for(const std::string& query) {
    wsio::HttpRequest request;
    request.query = wsio::parse_target("/?" + query)->query;
    return request;
}

// What finish() says after a route with every kind of parameter has read it.
std::string said(const std::string& text) {
    const auto request = request_for(text);
    QueryReader query{request};
    query.text("name");
    query.whole("limit", 1, 1000);
    query.number("scale", 0.05, 1);
    query.flag("cursor");
    query.word("format", {"png", "jpeg"});
    query.all("label");
    const auto done = query.finish();
    return done ? "" : done.error().message;
}

TEST(Query, ReadsEachKind) {
    const auto request = request_for("name=a+b&limit=10&scale=0.5&cursor&format=png&label=x%3D1&label=y");
    QueryReader query{request};
    EXPECT_EQ(query.text("name"), "a b");
    EXPECT_EQ(query.whole("limit", 1, 1000), 10);
    EXPECT_EQ(query.number("scale", 0, 1), 0.5);
    EXPECT_EQ(query.flag("cursor"), true);
    EXPECT_EQ(query.word("format", {"png"}), "png");
    EXPECT_THAT(query.all("label"), ElementsAre("x=1", "y"));
    EXPECT_EQ(query.text("absent"), std::nullopt);
    EXPECT_TRUE(query.finish());
}

TEST(Query, SaysWhatIsWrong) {
    EXPECT_EQ(said(""), "");
    EXPECT_EQ(said("limit=0"), "query.limit: must be a whole number from 1 to 1000");
    EXPECT_EQ(said("limit=1x"), "query.limit: must be a whole number from 1 to 1000");
    EXPECT_EQ(said("limit="), "query.limit: must be a whole number from 1 to 1000");
    EXPECT_EQ(said("limit=99999999999999999999"), "query.limit: must be a whole number from 1 to 1000");
    EXPECT_EQ(said("limit=1&limit=2"), "query.limit: given twice");
    EXPECT_EQ(said("scale=nan"), "query.scale: must be a number from 0.05 to 1");
    EXPECT_EQ(said("scale=1e9"), "query.scale: must be a number from 0.05 to 1");
    EXPECT_EQ(said("cursor=maybe"), "query.cursor: must be true or false");
    EXPECT_EQ(said("format=gif"), "query.format: 'gif' is not known");
    EXPECT_EQ(said("name="), "query.name: is empty");
}

TEST(Query, NamesAnUnknownParameterBeforeAllElse) {
    EXPECT_EQ(said("limit=0&lable=x"), "query.lable: unknown parameter");
    const auto request = request_for("a=1");
    EXPECT_EQ(no_query(request).error().hint, "nothing is taken from the query");
    EXPECT_TRUE(no_query(request_for("")));
}

}  // namespace
}  // namespace dormouse::api

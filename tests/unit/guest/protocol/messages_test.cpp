// SPDX-License-Identifier: Apache-2.0
#include "guest/protocol/messages.h"

#include <gtest/gtest.h>

namespace dormouse::guest {
namespace {

using nlohmann::json;

TEST(Messages, HelloesComeBackAsTheyWere) {
    const HostHello host{"0.1.0", 1'700'000'000'000'000'000};
    EXPECT_EQ(parse_host_hello(to_json(host)).value(), host);
    const HelloInfo info{"0.1.0", "6c1e", 12, {"ping", "status"}};
    EXPECT_EQ(parse_hello_info(to_json(info)).value(), info);
    EXPECT_TRUE(info.knows("ping"));
    EXPECT_FALSE(info.knows("exec"));
}

TEST(Messages, FieldsOfANewerSideAreLeftAlone) {
    auto body = to_json(HostHello{"9", 1});
    body["later"] = {1, 2};
    EXPECT_TRUE(parse_host_hello(body));
}

TEST(Messages, WhatDoesNotFitIsCorrupt) {
    for (const char* text : {R"([])", R"({})", R"({"agent_version":1,"boot_id":"","time_unix_ns":1})",
                             R"({"agent_version":"1","boot_id":"","time_unix_ns":"1"})",
                             R"({"agent_version":"1","boot_id":"","time_unix_ns":18446744073709551615})",
                             R"({"agent_version":"1","boot_id":"","time_unix_ns":1,"methods":[1]})",
                             R"({"agent_version":"1","boot_id":"","time_unix_ns":1,"methods":{}})"}) {
        const auto info = parse_hello_info(json::parse(text));
        ASSERT_FALSE(info) << text;
        EXPECT_EQ(info.error().code, Errc::Corrupt);
    }
    EXPECT_FALSE(
        parse_hello_info({{"agent_version", std::string(1000, 'x')}, {"boot_id", ""}, {"time_unix_ns", 1}}));
}

TEST(Messages, RequestsNeedAMethodAndAnObject) {
    const auto request = parse_request(to_json(Request{"ping", json::object()}));
    ASSERT_TRUE(request);
    EXPECT_EQ(request->method, "ping");
    EXPECT_FALSE(parse_request({{"method", "ping"}, {"params", 3}}));
    EXPECT_FALSE(parse_request({{"params", json::object()}}));
    EXPECT_FALSE(parse_request(json::array()));
}

TEST(Messages, OutcomesCarryResultsAndErrors) {
    const json result{{"text", "a"}};
    EXPECT_EQ(parse_outcome(outcome_to_json(result)).value(), result);
    const auto error = parse_outcome(outcome_to_json(fail(Errc::NotFound, "no such thing")));
    ASSERT_FALSE(error);
    EXPECT_EQ(error.error().code, Errc::NotFound);
    EXPECT_EQ(error.error().message, "no such thing");
}

TEST(Messages, AnErrorFromTheGuestIsShortAndPlain) {
    const auto error = parse_outcome(
        {{"error",
          {{"code", "made_up"}, {"message", "a\x1b[31m\n" + std::string(497, '.') + "\xc3\xa4\xc3\xa4"}}}});
    ASSERT_FALSE(error);
    EXPECT_EQ(error.error().code, Errc::Internal);
    EXPECT_LE(error.error().message.size(), 500u);
    EXPECT_EQ(error.error().message.substr(0, 7), "a [31m ");
    EXPECT_NO_THROW(static_cast<void>(json(error.error().message).dump()));
}

TEST(Messages, DeepAndBrokenJsonIsRefused) {
    EXPECT_TRUE(parse_json(R"({"a":["[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["]})"));
    EXPECT_FALSE(parse_json(std::string(100, '[') + std::string(100, ']')));
    EXPECT_FALSE(parse_json(std::string(3'000'000, '[')));
    EXPECT_FALSE(parse_json("{"));
    EXPECT_FALSE(parse_json("\"\xff\""));
}

TEST(Messages, BytesThatAreNotUtf8AreReplaced) {
    EXPECT_EQ(dump_json("a\xff"), "\"a\xef\xbf\xbd\"");
}

TEST(Messages, OnlyHarmlessMethodsMayBeAskedTwice) {
    EXPECT_TRUE(is_idempotent("status"));
    EXPECT_FALSE(is_idempotent("reboot"));
    EXPECT_FALSE(is_idempotent("paste_text"));
    EXPECT_FALSE(is_idempotent("unheard_of"));
}

}  // namespace
}  // namespace dormouse::guest

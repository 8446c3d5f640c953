// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::schema {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(ExecRequest, TakesALineForTheShell) {
    const auto request = parse<ExecRequest>(R"({"command":"ls -l | head"})");
    ASSERT_TRUE(request);
    EXPECT_TRUE(request->shell);
    EXPECT_THAT(request->argv, ElementsAre("ls -l | head"));
    EXPECT_EQ(request->user, "desktop");
    EXPECT_EQ(request->timeout, std::chrono::seconds{60});
}

TEST(ExecRequest, TakesAListAndAllOptions) {
    const auto request = parse<ExecRequest>(
        R"({"command":["tee","/x"],"user":"root","cwd":"/","env":{"A":"b=c"},"stdin":"hi","timeout":1.5})");
    ASSERT_TRUE(request);
    EXPECT_FALSE(request->shell);
    EXPECT_THAT(request->argv, ElementsAre("tee", "/x"));
    EXPECT_EQ(request->user, "root");
    EXPECT_EQ(request->directory, "/");
    EXPECT_EQ(request->env.at("A"), "b=c");
    EXPECT_EQ(request->input, "hi");
    EXPECT_EQ(request->timeout, std::chrono::milliseconds{1500});
    const auto again = parse<ExecRequest>(to_json(*request));
    ASSERT_TRUE(again);
    EXPECT_EQ(to_json(*again), to_json(*request));
}

TEST(ExecRequest, SaysWhichFieldIsWrong) {
    const auto message = [](std::string_view text) {
        const auto request = parse<ExecRequest>(text);
        return request ? std::string{"accepted"} : request.error().message;
    };
    EXPECT_THAT(message("{}"), StartsWith("command"));
    EXPECT_THAT(message(R"({"command":""})"), StartsWith("command"));
    EXPECT_THAT(message(R"({"command":[]})"), StartsWith("command"));
    EXPECT_THAT(message(R"({"command":7})"), StartsWith("command"));
    EXPECT_THAT(message(R"({"command":["a",7]})"), StartsWith("command[1]"));
    EXPECT_THAT(message("{\"command\":\"a\\u0000b\"}"), StartsWith("command"));
    EXPECT_THAT(message(R"({"command":"a","env":{"A=B":"c"}})"), StartsWith("env"));
    EXPECT_THAT(message(R"({"command":"a","env":[1]})"), StartsWith("env"));
    EXPECT_THAT(message(R"({"command":"a","user":"me"})"), StartsWith("user"));
    EXPECT_THAT(message(R"({"command":"a","timeout":601})"), StartsWith("timeout"));
    EXPECT_THAT(message(R"({"command":"a","time":1})"), StartsWith("time"));
}

TEST(ExecResponse, GoesThereAndBack) {
    const ExecResponse response{
        .exit_code = {}, .signal = 9, .timed_out = true, .out = "a", .err = "b", .out_left_out = 5};
    const auto again = parse<ExecResponse>(to_json(response));
    ASSERT_TRUE(again);
    EXPECT_EQ(to_json(*again), to_json(response));
}

}  // namespace
}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/error.h"

#include <gtest/gtest.h>

namespace dormouse::schema {
namespace {

constexpr Errc kAll[] = {
    Errc::InvalidArgument, Errc::Unauthenticated, Errc::Denied,  Errc::NotFound,    Errc::Conflict,
    Errc::TooLarge,        Errc::Unavailable,     Errc::Timeout, Errc::Interrupted, Errc::Io,
    Errc::Corrupt,         Errc::Internal};

TEST(ErrorCodes, HaveTheStatusOfTheDocumentation) {
    EXPECT_EQ(http_status(Errc::InvalidArgument), 400);
    EXPECT_EQ(http_status(Errc::Unauthenticated), 401);
    EXPECT_EQ(http_status(Errc::Denied), 403);
    EXPECT_EQ(http_status(Errc::NotFound), 404);
    EXPECT_EQ(http_status(Errc::Conflict), 409);
    EXPECT_EQ(http_status(Errc::TooLarge), 413);
    EXPECT_EQ(http_status(Errc::Unavailable), 503);
    EXPECT_EQ(http_status(Errc::Timeout), 504);
    EXPECT_EQ(http_status(Errc::Interrupted), 502);
    for (const auto code : {Errc::Io, Errc::Corrupt, Errc::Internal}) EXPECT_EQ(http_status(code), 500);
}

TEST(ErrorCodes, ComeBackFromTheirStatus) {
    for (const auto code : kAll) {
        const auto expected = http_status(code) == 500 ? Errc::Internal : code;
        EXPECT_EQ(errc_from_status(http_status(code)), expected);
    }
    EXPECT_EQ(errc_from_status(500), Errc::Internal);
    EXPECT_EQ(errc_from_status(405), Errc::InvalidArgument);
    EXPECT_EQ(errc_from_status(418), Errc::InvalidArgument);
    EXPECT_EQ(errc_from_status(302), Errc::Internal);
}

TEST(ErrorCodes, ComeBackFromTheirName) {
    for (const auto code : kAll) EXPECT_EQ(errc_from_name(errc_name(code)), code);
    EXPECT_FALSE(errc_from_name("teapot"));
}

TEST(ErrorBody, IsWrittenAndReadBack) {
    const ErrorBody body{{Errc::Conflict, "\"a\" is stopped", "start it", 17}, 2};
    const auto text = to_json(body);
    EXPECT_EQ(
        text,
        R"({"error":{"code":"conflict","message":"\"a\" is stopped","hint":"start it","action_index":2}})");
    const auto read = parse<ErrorBody>(text).value();
    EXPECT_EQ(read.error.code, Errc::Conflict);
    EXPECT_EQ(read.error.message, body.error.message);
    EXPECT_EQ(read.error.hint, "start it");
    EXPECT_EQ(read.action_index, 2);
    EXPECT_EQ(read.error.os_error, 0) << "a matter of the server only";
}

TEST(ErrorBody, WithACodeOfTheFutureIsStillAnError) {
    const auto read =
        parse<ErrorBody>(R"({"error":{"code":"quota","message":"no more","help":1},"more":[]})").value();
    EXPECT_EQ(read.error.code, Errc::Internal);
    EXPECT_EQ(read.error.message, "no more");
    EXPECT_FALSE(read.action_index);
}

TEST(ErrorBody, WritesBytesThatAreNotTextAsReplacements) {
    EXPECT_EQ(to_json(ErrorBody{{Errc::Io, "a\xff", "", 0}, {}}),
              "{\"error\":{\"code\":\"io\",\"message\":\"a\xef\xbf\xbd\",\"hint\":\"\"}}");
}

}  // namespace
}  // namespace dormouse::schema

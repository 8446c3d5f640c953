// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/head_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace dormouse::wsio {
namespace {

using State = HeadReader::State;

int fault_of(std::string_view bytes, std::size_t max_bytes = 1000, std::size_t max_headers = 10) {
    HeadReader reader{max_bytes, max_headers};
    for (std::size_t i = 0; i < bytes.size() && reader.state() == State::Reading; ++i)
        reader.feed(bytes.substr(i, 1));
    return reader.state() == State::Failed ? reader.fault().status : 0;
}

TEST(HeadReader, ReadsHeadersAndLeavesTheBody) {
    HeadReader reader{1000, 10};
    const std::string_view head =
        "\r\nPOST /x HTTP/1.1\r\nHost: a:1\r\nX-Empty:\r\nAccept: a\r\naccept:\t b \r\n\r\n";
    EXPECT_EQ(reader.feed(std::string{head} + "body"), head.size());
    ASSERT_EQ(reader.state(), State::Done);
    EXPECT_EQ(reader.start_line(), "POST /x HTTP/1.1");
    EXPECT_EQ(find_header(reader.headers(), "host"), "a:1");
    EXPECT_EQ(find_header(reader.headers(), "x-empty"), "");
    EXPECT_EQ(find_header(reader.headers(), "accept"), "a, b");
    EXPECT_EQ(find_header(reader.headers(), "missing"), "");
}

TEST(HeadReader, RefusesWhatTwoParsersCouldReadDifferently) {
    EXPECT_EQ(fault_of("GET / HTTP/1.1\nHost: a\n\n"), 400);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nHost : a\r\n"), 400);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nHost: a\r\n b\r\n"), 400);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nHost: a\rb\r\n"), 400);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nno colon\r\n"), 400);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\n: a\r\n"), 400);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nX: a\x01\r\n"), 400);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nX: \x7f\r\n"), 400);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nContent-Length: 5\r\ncontent-length: 5\r\n"), 400);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nAuthorization: a\r\nAuthorization: b\r\n"), 400);
    EXPECT_EQ(fault_of("\x16\x03\x01"), 400);
}

TEST(HeadReader, StopsAtItsLimits) {
    EXPECT_EQ(fault_of(std::string(1001, 'G')), 431);
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\n" + std::string(990, 'x')), 431);
    std::string many = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 11; ++i) many += "X-" + std::to_string(i) + ": a\r\n";
    EXPECT_EQ(fault_of(many), 431);
}

TEST(RequestLine, IsThreeWordsAndAVersionWeSpeak) {
    const auto line = parse_request_line("GET /a?b HTTP/1.0");
    ASSERT_TRUE(line);
    EXPECT_EQ(line->method, "GET");
    EXPECT_EQ(line->target, "/a?b");
    EXPECT_EQ(line->version_minor, 0);
    for (const auto* bad : {"GET /", "GET  / HTTP/1.1", "GET / / HTTP/1.1", "G(T / HTTP/1.1", " / HTTP/1.1",
                            "GET / HTTP", "GET / http/1.1", "GET / "}) {
        const auto result = parse_request_line(bad);
        ASSERT_FALSE(result) << bad;
        EXPECT_EQ(result.error().status, 400) << bad;
    }
    EXPECT_EQ(parse_request_line("GET / HTTP/2.0").error().status, 505);
    EXPECT_EQ(parse_request_line("GET / HTTP/1.11").error().status, 505);
}

TEST(RequestBody, IsNeverFramedInTwoWays) {
    const auto status = [](Headers headers, int minor = 1) {
        const auto body = request_body(headers, minor, 100);
        return body.state() == BodyReader::State::Failed ? body.fault().status : 0;
    };
    EXPECT_EQ(status({}), 0);
    EXPECT_EQ(status({{"content-length", "100"}}), 0);
    EXPECT_EQ(status({{"transfer-encoding", "Chunked"}}), 0);
    EXPECT_EQ(status({{"content-length", "101"}}), 413);
    EXPECT_EQ(status({{"content-length", "+5"}}), 400);
    EXPECT_EQ(status({{"content-length", "5, 5"}}), 400);
    EXPECT_EQ(status({{"content-length", ""}}), 400);
    EXPECT_EQ(status({{"content-length", "99999999999999999999"}}), 400);
    EXPECT_EQ(status({{"content-length", "5"}, {"transfer-encoding", "chunked"}}), 400);
    EXPECT_EQ(status({{"transfer-encoding", "gzip, chunked"}}), 501);
    EXPECT_EQ(status({{"transfer-encoding", "chunked, chunked"}}), 501);
    EXPECT_EQ(status({{"transfer-encoding", "identity"}}), 501);
    EXPECT_EQ(status({{"transfer-encoding", "chunked"}}, 0), 400);
}

TEST(StatusLine, IsReadWithAndWithoutAReason) {
    EXPECT_EQ(parse_status_line("HTTP/1.1 404 Not Found")->status, 404);
    EXPECT_EQ(parse_status_line("HTTP/1.0 200")->status, 200);
    for (const auto* bad :
         {"HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099", "HTTP/2 200 OK", "SSH-2.0-OpenSSH"})
        EXPECT_FALSE(parse_status_line(bad)) << bad;
}

TEST(HasToken, LooksAtWholeItems) {
    EXPECT_TRUE(has_token("keep-alive, Close", "close"));
    EXPECT_FALSE(has_token("closed", "close"));
    EXPECT_FALSE(has_token("", "close"));
}

}  // namespace
}  // namespace dormouse::wsio

// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/http_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace dormouse::wsio {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A connection whose client and owner are the test.
struct Harness {
    ManualClock clock;
    HttpLimits limits{.body = 100};
    std::vector<HttpRequest> requests;
    std::uint64_t number = 0;
    HttpConnection connection{limits, clock, "127.0.0.1:1", [this](HttpRequest request, std::uint64_t n) {
                                  requests.push_back(std::move(request));
                                  number = n;
                              }};

    void send_bytewise(std::string_view bytes) {
        for (const char& c : bytes) connection.receive({&c, 1});
    }
    // What the client gets, taken `step` bytes at a time.
    std::string sent(std::size_t step = 7) {
        std::string out;
        std::array<unsigned char, 64> buffer{};
        while (connection.has_output()) {
            const auto count = connection.take_output(std::span{buffer}.first(step));
            std::transform(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count),
                           std::back_inserter(out), [](unsigned char c) { return static_cast<char>(c); });
            connection.on_written();
        }
        return out;
    }
    std::string answered(HttpResponse response) {
        connection.answer(number, response);
        return sent();
    }
};

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(HttpConnection, GivesTheRequestAndSendsTheAnswer) {
    Harness h;
    h.send_bytewise(
        "POST /v1/x?a=b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
        "2\r\n\r\n{}");
    ASSERT_EQ(h.requests.size(), 1u);
    EXPECT_EQ(h.requests[0].method, "POST");
    EXPECT_EQ(h.requests[0].path, "/v1/x");
    EXPECT_EQ(h.requests[0].query.find("a")->second, "b");
    EXPECT_EQ(h.requests[0].body, "{}");
    EXPECT_EQ(h.requests[0].remote, "127.0.0.1:1");
    EXPECT_EQ(find_header(h.requests[0].headers, "content-type"), "application/json");

    const auto out = h.answered(HttpResponse::json(201, R"({"a":1})"));
    EXPECT_THAT(out, StartsWith("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"));
    EXPECT_THAT(out, HasSubstr("Cache-Control: no-store\r\n"));
    EXPECT_THAT(out, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(out, HasSubstr("Content-Length: 7\r\nConnection: keep-alive\r\n\r\n{\"a\":1}"));
    EXPECT_EQ(out.find("Server:"), std::string::npos);
    EXPECT_FALSE(h.connection.half_close());
}

TEST(HttpConnection, AnswersPipelinedRequestsInOrderOneAtATime) {
    Harness h;
    h.connection.receive(
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n0\r\n\r\nGET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_EQ(h.requests.size(), 1u);
    EXPECT_EQ(h.requests[0].path, "/1");
    h.answered({.status = 204});
    ASSERT_EQ(h.requests.size(), 2u);
    EXPECT_EQ(h.requests[1].body, "abc");
    h.answered({.status = 204});
    ASSERT_EQ(h.requests.size(), 3u);
    EXPECT_EQ(h.requests[2].path, "/3");
}

TEST(HttpConnection, IgnoresAnswersToOtherRequests) {
    Harness h;
    h.connection.answer(1, {.status = 200});
    EXPECT_FALSE(h.connection.has_output());
    h.connection.receive(kGet);
    h.connection.answer(h.number + 1, {.status = 200});
    EXPECT_FALSE(h.connection.has_output());
    EXPECT_THAT(h.answered({.status = 200}), StartsWith("HTTP/1.1 200"));
    h.connection.answer(h.number, {.status = 200});
    EXPECT_FALSE(h.connection.has_output());
}

TEST(HttpConnection, LeavesTheBodyOutForHead) {
    Harness h;
    h.connection.receive("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    const auto out = h.answered(HttpResponse::text(200, "text/plain", "hello"));
    EXPECT_THAT(out, HasSubstr("Content-Length: 5\r\n"));
    EXPECT_THAT(out, testing::EndsWith("\r\n\r\n"));
    h.connection.receive(kGet);
    EXPECT_THAT(h.answered(HttpResponse::text(200, "text/plain", "hello")), testing::EndsWith("hello"));
}

TEST(HttpConnection, SendsNeitherBodyNorLengthWith204And304) {
    Harness h;
    h.connection.receive(kGet);
    const auto out = h.answered(HttpResponse::text(304, "text/plain", "hello"));
    EXPECT_EQ(out.find("Content-Length"), std::string::npos);
    EXPECT_THAT(out, testing::EndsWith("\r\n\r\n"));
}

TEST(HttpConnection, ClosesAfterTheAnswerWhenAskedTo) {
    Harness h;
    h.connection.receive("GET / HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n");
    EXPECT_THAT(h.answered({.status = 200}), HasSubstr("Connection: close"));
    EXPECT_TRUE(h.connection.half_close());
    h.connection.receive(kGet);  // too late
    EXPECT_EQ(h.requests.size(), 1u);
}

TEST(HttpConnection, ServesHttp10WithoutHostAndCloses) {
    Harness h;
    h.connection.receive("GET / HTTP/1.0\r\n\r\n");
    EXPECT_THAT(h.answered(HttpResponse::text(200, "text/plain", "x")), StartsWith("HTTP/1.0 200 OK"));
    EXPECT_TRUE(h.connection.half_close());
}

TEST(HttpConnection, AnswersExpectContinueOnlyWhenItWillTakeTheBody) {
    Harness h;
    h.connection.receive("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    EXPECT_EQ(h.sent(), "HTTP/1.1 100 Continue\r\n\r\n");
    h.connection.receive("abc");
    ASSERT_EQ(h.requests.size(), 1u);
    EXPECT_THAT(h.answered({.status = 204}), StartsWith("HTTP/1.1 204"));

    h.connection.receive("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n");
    EXPECT_THAT(h.sent(), StartsWith("HTTP/1.1 413"));

    Harness other;
    other.connection.receive("POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 3\r\n\r\n");
    EXPECT_THAT(other.sent(), StartsWith("HTTP/1.1 417"));
}

TEST(HttpConnection, AnswersFaultsWithTheApisErrorAndEnds) {
    for (const auto& [bytes, status] : std::vector<std::pair<std::string, std::string>>{
             {"GET /\r\n\r\n", "400"},
             {"GET / HTTP/1.1\r\n\r\n", "400"},
             {"GET /../x HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
             {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
             {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", "501"},
             {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", "413"},
             {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n", "413"},
             {"GET / HTTP/3.0\r\nHost: x\r\n\r\n", "505"},
             {std::string(40'000, 'A'), "431"},
             {"\x16\x03\x01\x02", "400"}}) {
        Harness h;
        h.connection.receive(bytes);
        const auto out = h.sent();
        EXPECT_THAT(out, StartsWith("HTTP/1.1 " + status)) << bytes.substr(0, 60);
        EXPECT_THAT(out, HasSubstr("Connection: close\r\n\r\n{\"error\":{\"code\":\""))
            << bytes.substr(0, 60);
        EXPECT_TRUE(h.connection.half_close());
        EXPECT_TRUE(h.requests.empty());
    }
}

TEST(HttpConnection, TurnsAHeaderThatWouldSplitTheAnswerInto500) {
    Harness h;
    h.connection.receive(kGet);
    const auto out = h.answered({.status = 200, .headers = {{"X-A", "b\r\nX-Split: d"}}});
    EXPECT_THAT(out, StartsWith("HTTP/1.1 500"));
    EXPECT_EQ(out.find("X-Split"), std::string::npos);
}

TEST(HttpConnection, GivesUpOnSlowHeadsAndBodies) {
    Harness h;
    h.connection.receive("GET / HT");
    h.clock.advance(h.limits.head_time - std::chrono::seconds{1});
    h.connection.receive("T");  // a byte now and then does not help
    h.clock.advance(std::chrono::seconds{1});
    ASSERT_EQ(h.connection.deadline(), h.clock.now());
    h.connection.on_deadline();
    EXPECT_THAT(h.sent(), StartsWith("HTTP/1.1 408"));
    EXPECT_TRUE(h.connection.half_close());
    h.clock.advance(h.limits.linger);
    h.connection.on_deadline();
    EXPECT_TRUE(h.connection.closed());

    Harness body;
    body.connection.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n");
    for (int i = 0; i < 30 && body.connection.wants_input(); ++i) {
        body.clock.advance(std::chrono::seconds{10});
        body.connection.on_deadline();
        body.connection.receive("x");
    }
    EXPECT_THAT(body.sent(), StartsWith("HTTP/1.1 408"));
}

TEST(HttpConnection, ClosesIdleConnectionsSilentlyAndStuckOnesToo) {
    Harness h;
    h.clock.advance(h.limits.idle);
    h.connection.on_deadline();
    EXPECT_TRUE(h.connection.closed());
    EXPECT_FALSE(h.connection.has_output());

    Harness stuck;
    stuck.connection.receive(kGet);
    EXPECT_EQ(stuck.connection.deadline(), std::nullopt);  // the handler may take as long as it needs
    stuck.connection.answer(stuck.number, HttpResponse::text(200, "text/plain", std::string(1000, 'x')));
    std::array<unsigned char, 10> some{};
    stuck.connection.take_output(some);
    stuck.connection.on_written();
    EXPECT_FALSE(stuck.connection.wants_input());
    stuck.clock.advance(stuck.limits.write_pause);
    stuck.connection.on_deadline();
    EXPECT_TRUE(stuck.connection.closed());
}

TEST(HttpConnection, KeepsALimitedAmountOfWhatIsSentAhead) {
    Harness h;
    h.connection.receive(kGet);
    EXPECT_TRUE(h.connection.wants_input());
    h.connection.receive(std::string(70'000, 'x'));
    EXPECT_FALSE(h.connection.wants_input());
    h.connection.answer(h.number, {.status = 200});
    EXPECT_THAT(h.sent(), HasSubstr("HTTP/1.1 431"));
}

}  // namespace
}  // namespace dormouse::wsio

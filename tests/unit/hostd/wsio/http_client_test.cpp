// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "hostd/wsio/http_server.h"
#include "hostd/wsio/listener.h"

namespace dormouse::wsio {
namespace {

using testing::HasSubstr;

// A server that accepts once, reads a request's head and says exactly these bytes.
class Scripted {
  public:
    explicit Scripted(std::string answer, bool bytewise = false)
        : acceptor_(*listen_on("127.0.0.1", 0)),
          port_(local_port(acceptor_.listener())),
          thread_([this, answer = std::move(answer), bytewise] {
              pollfd entry{acceptor_.listener(), POLLIN, 0};
              ::poll(&entry, 1, 20'000);
              const auto fd = acceptor_.accept();
              std::string seen;
              while (seen.find("\r\n\r\n") == std::string::npos) {
                  pollfd readable{fd.get(), POLLIN, 0};
                  ::poll(&readable, 1, 20'000);
                  char c = 0;
                  if (::recv(fd.get(), &c, 1, 0) != 1) return;
                  seen.push_back(c);
              }
              for (std::size_t i = 0; i < answer.size(); i += bytewise ? 1 : answer.size())
                  ::send(fd.get(), answer.data() + i, bytewise ? 1 : answer.size(), MSG_NOSIGNAL);
          }) {}

    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

  private:
    Acceptor acceptor_;
    std::uint16_t port_;
    std::jthread thread_;
};

Errc code_of(const Result<ClientResponse>& result) {
    return result ? Errc{-1} : result.error().code;
}

TEST(HttpClient, SendsARequestAndGetsTheAnswer) {
    const auto server = HttpServer::start({}, [](const HttpRequest& request, const Responder& responder) {
        EXPECT_EQ(request.method, "POST");
        EXPECT_EQ(request.path, "/v1/x");
        EXPECT_EQ(request.query.find("a")->second, "b c");
        EXPECT_EQ(find_header(request.headers, "authorization"), "Bearer dm_1");
        responder.respond(HttpResponse::json(409, request.body));
    });
    const auto answer =
        http_request({.method = "POST",
                      .url = "http://127.0.0.1:" + std::to_string((*server)->port()) + "/v1/x?a=b%20c",
                      .headers = {{"Authorization", "Bearer dm_1"}},
                      .body = std::string(3'000'000, 'b')});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 409);
    EXPECT_EQ(find_header(answer->headers, "content-type"), "application/json");
    EXPECT_EQ(answer->body.size(), 3'000'000u);
}

TEST(HttpClient, HearsWhyItsBodyWasRefused) {
    const auto server =
        HttpServer::start({.limits = {.body = 10}}, [](const HttpRequest&, const Responder&) {});
    const auto answer = http_request({.method = "POST",
                                      .url = "http://127.0.0.1:" + std::to_string((*server)->port()),
                                      .body = std::string(20'000'000, 'b')});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 413);
}

TEST(HttpClient, ReadsChunkedAndInterimAndUnframedAnswers) {
    Scripted chunked{
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
        "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        true};
    EXPECT_EQ(http_request({.url = chunked.url()})->body, "abc");
    Scripted unframed{"HTTP/1.0 200 OK\r\n\r\nabcdef"};
    EXPECT_EQ(http_request({.url = unframed.url()})->body, "abcdef");
    Scripted head{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"};
    EXPECT_EQ(http_request({.method = "HEAD", .url = head.url()})->body, "");
}

TEST(HttpClient, TellsWhatWentWrong) {
    Scripted cut{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"};
    EXPECT_EQ(code_of(http_request({.url = cut.url()})), Errc::Interrupted);
    Scripted silent{""};
    EXPECT_EQ(code_of(http_request({.url = silent.url()})), Errc::Interrupted);
    Scripted other{"SSH-2.0-OpenSSH_9.2\r\n\r\n"};
    EXPECT_EQ(code_of(http_request({.url = other.url()})), Errc::Corrupt);
    Scripted large{"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"};
    EXPECT_EQ(code_of(http_request({.url = large.url(), .response_limit = 999})), Errc::TooLarge);
}

TEST(HttpClient, GivesUpWhenTheTimeIsOver) {
    const auto listener = listen_on("127.0.0.1", 0);  // connects, and nobody answers
    const auto answer =
        http_request({.url = "http://127.0.0.1:" + std::to_string(local_port(listener->get())),
                      .timeout = std::chrono::milliseconds{50}});
    EXPECT_EQ(code_of(answer), Errc::Timeout);
}

TEST(HttpClient, SaysThatNobodyListens) {
    std::uint16_t port = 0;
    { port = local_port(listen_on("127.0.0.1", 0)->get()); }
    const auto answer = http_request({.url = "http://127.0.0.1:" + std::to_string(port)});
    EXPECT_EQ(code_of(answer), Errc::Unavailable);
    EXPECT_THAT(answer.error().message, HasSubstr("Connection refused"));
}

TEST(HttpClient, RefusesWhatItCannotSend) {
    for (const auto* url :
         {"", "127.0.0.1:1", "https://x/", "http://", "http://:80", "http://a:b", "http://a:99999",
          "http://u@h/", "http://[::1", "http://[::1]x", "http://a/b c", "http://a/\r\nX: y"})
        EXPECT_EQ(code_of(http_request({.url = url})), Errc::InvalidArgument) << url;
    EXPECT_EQ(code_of(http_request({.url = "http://127.0.0.1:1", .headers = {{"X", "a\r\nY: b"}}})),
              Errc::InvalidArgument);
    EXPECT_EQ(code_of(http_request({.method = "GET /x", .url = "http://127.0.0.1:1"})),
              Errc::InvalidArgument);
}

TEST(HttpClient, TalksToAnIpv6Address) {
    auto server =
        HttpServer::start({.address = "::1"}, [](const HttpRequest& request, const Responder& responder) {
            EXPECT_THAT(request.remote, testing::StartsWith("[::1]:"));
            responder.respond({.status = 204});
        });
    if (!server) GTEST_SKIP() << "no IPv6 here: " << server.error().message;
    EXPECT_EQ(http_request({.url = "http://[::1]:" + std::to_string((*server)->port())})->status, 204);
}

TEST(PercentEncode, LeavesOnlyWhatIsPlainEverywhere) {
    EXPECT_EQ(percent_encode("a-b_c.d~e1"), "a-b_c.d~e1");
    EXPECT_EQ(percent_encode("a/b ï%"), "a%2Fb%20%C3%AF%25");
}

}  // namespace
}  // namespace dormouse::wsio

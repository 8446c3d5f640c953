// SPDX-License-Identifier: Apache-2.0
// Answers that are made while they are sent: through the connection alone, and
// on real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <future>
#include <span>
#include <thread>

#include "hostd/wsio/body_stream.h"
#include "hostd/wsio/http_client.h"
#include "hostd/wsio/http_connection.h"
#include "hostd/wsio/http_server.h"
#include "tests/unit/hostd/wsio/raw_client.h"

namespace dormouse::wsio {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

HttpResponse streamed(std::shared_ptr<BodyStream> stream) {
    return {
        .status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = {}, .stream = std::move(stream)};
}

struct Harness {
    ManualClock clock;
    HttpLimits limits{};
    std::vector<HttpRequest> requests;
    std::uint64_t number = 0;
    HttpConnection connection{limits, clock, "127.0.0.1:1", [this](HttpRequest request, std::uint64_t n) {
                                  requests.push_back(std::move(request));
                                  number = n;
                              }};
    std::shared_ptr<BodyStream> stream = std::make_shared<BodyStream>(1000);

    std::string sent() {
        std::string out;
        std::array<unsigned char, 64> buffer{};
        while (connection.has_output()) {
            const auto count = connection.take_output(buffer);
            out.append(reinterpret_cast<const char*>(buffer.data()), count);
            connection.on_written();
        }
        return out;
    }
};

TEST(HttpStream, IsSentInChunksAndTheConnectionGoesOn) {
    Harness h;
    h.connection.receive("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    h.connection.answer(h.number, streamed(h.stream));
    EXPECT_TRUE(h.connection.streaming());
    const auto head = h.sent();
    EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked\r\n"));
    EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
    EXPECT_TRUE(h.connection.wants_input()) << "that is how we learn that the client has gone";
    ASSERT_TRUE(h.stream->write("hello"));
    EXPECT_EQ(h.sent(), "5\r\nhello\r\n");
    h.stream->end("bye");
    EXPECT_EQ(h.sent(), "3\r\nbye\r\n0\r\n\r\n");
    EXPECT_TRUE(h.stream->closed());
    h.connection.receive("GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_EQ(h.requests.size(), 2u);
}

TEST(HttpStream, EndsWithTheConnectionForAnOldClient) {
    Harness h;
    h.connection.receive("GET /a HTTP/1.0\r\n\r\n");
    h.connection.answer(h.number, streamed(h.stream));
    EXPECT_THAT(h.sent(), HasSubstr("Connection: close\r\n"));
    ASSERT_TRUE(h.stream->write("hello"));
    EXPECT_EQ(h.sent(), "hello");
    h.stream->end();
    EXPECT_EQ(h.sent(), "");
    EXPECT_TRUE(h.connection.half_close());
}

TEST(HttpStream, HasNoBodyForAHeadRequest) {
    Harness h;
    h.connection.receive("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
    h.connection.answer(h.number, streamed(h.stream));
    EXPECT_THAT(h.sent(), EndsWith("\r\n\r\n"));
    EXPECT_TRUE(h.stream->closed());
    EXPECT_FALSE(h.connection.streaming());
}

TEST(HttpStream, MayBeSilentForLongButAClientMustTakeWhatThereIs) {
    Harness h;
    h.connection.receive("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    h.connection.answer(h.number, streamed(h.stream));
    h.sent();
    EXPECT_FALSE(h.connection.deadline());
    h.clock.advance(10min);
    ASSERT_TRUE(h.stream->write("news"));
    h.connection.on_stream_data();
    ASSERT_TRUE(h.connection.deadline());
    EXPECT_GT(*h.connection.deadline(), h.clock.now()) << "its time begins now";
    h.clock.advance(h.limits.write_pause + 1s);
    h.connection.on_deadline();
    EXPECT_TRUE(h.connection.closed());
    EXPECT_TRUE(h.stream->closed());
}

TEST(HttpStream, ThatNobodyAsksForAnyMoreIsClosed) {
    Harness h;
    h.connection.receive("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    h.connection.answer(h.number + 1, streamed(h.stream));
    EXPECT_TRUE(h.stream->closed());
}

// A server whose every request gets the stream that the test holds.
class StreamServer {
  public:
    StreamServer() {
        auto server =
            HttpServer::start({.limits = limits()}, [this](HttpRequest, const Responder& responder) {
                stream->on_closed([this] { closed.set_value(); });
                responder.respond(streamed(stream));
            });
        EXPECT_TRUE(server);
        server_ = std::move(*server);
    }
    static HttpLimits limits() {
        HttpLimits limits;
        limits.write_pause = 300ms;
        return limits;
    }
    std::uint16_t port() const { return server_->port(); }
    void stop() { server_->stop(); }
    bool closes() { return closed.get_future().wait_for(20s) == std::future_status::ready; }

    std::shared_ptr<BodyStream> stream = std::make_shared<BodyStream>(8 << 20);
    std::promise<void> closed;

  private:
    std::unique_ptr<HttpServer> server_;
};

TEST(HttpStream, ReachesAClientPieceByPiece) {
    StreamServer server;
    RawClient client{server.port()};
    ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    client.read_until("\r\n\r\n");
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(server.stream->write("tick"));
        EXPECT_EQ(client.read_until("tick\r\n"), "4\r\ntick\r\n");
    }
    client.close();
    EXPECT_TRUE(server.closes());
}

TEST(HttpStream, EndsWithTheConnectionOnASocketToo) {
    StreamServer server;
    RawClient client{server.port()};
    ASSERT_TRUE(client.send("GET / HTTP/1.0\r\n\r\n"));
    client.read_until("\r\n\r\n");
    ASSERT_TRUE(server.stream->write("tick"));
    EXPECT_EQ(client.read_until("tick"), "tick");
    server.stream->end();
    EXPECT_EQ(client.read_all(), "");
}

TEST(HttpStream, IsEndedWhenTheServerStops) {
    StreamServer server;
    RawClient client{server.port()};
    ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    client.read_until("\r\n\r\n");
    server.stop();
    EXPECT_THAT(client.read_all(), EndsWith("0\r\n\r\n"));
    EXPECT_TRUE(server.closes());
}

TEST(HttpStream, DropsAClientThatTakesNothing) {
    StreamServer server;
    RawClient client{server.port()};
    ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    client.read_until("\r\n\r\n");
    // More than the buffers of both sockets hold.
    const std::string much(64 << 10, 'x');
    while (server.stream->write(much)) {
    }
    EXPECT_TRUE(server.closes());
}

TEST(HttpStream, IsGivenToTheClientAsItComes) {
    StreamServer server;
    std::string got;
    server.stream->write("one ");
    const auto response = http_request({.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/",
                                        .timeout = 20s,
                                        .on_body = [&](std::string_view part) {
                                            got += part;
                                            if (got == "one ") server.stream->write("two");
                                            return got != "one two";
                                        }});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(got, "one two");
    EXPECT_EQ(response->body, "");
    EXPECT_TRUE(server.closes());
}

TEST(HttpStream, MayBeSilentOnlyAsLongAsTheClientSays) {
    StreamServer server;
    const auto response = http_request({.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/",
                                        .timeout = 200ms,
                                        .on_body = [](std::string_view) { return true; }});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::Timeout);
}

}  // namespace
}  // namespace dormouse::wsio

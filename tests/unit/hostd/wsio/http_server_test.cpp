// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/unit/hostd/wsio/raw_client.h"

namespace dormouse::wsio {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// Requests that wait for the test to answer them.
class Held {
  public:
    HttpHandler handler() {
        return [this](HttpRequest request, Responder responder) {
            std::lock_guard lock{mutex_};
            queue_.emplace_back(std::move(request), std::move(responder));
            more_.notify_one();
        };
    }
    std::pair<HttpRequest, Responder> next() {
        std::unique_lock lock{mutex_};
        more_.wait(lock, [this] { return !queue_.empty(); });
        auto first = std::move(queue_.front());
        queue_.pop_front();
        return first;
    }

  private:
    std::mutex mutex_;
    std::condition_variable more_;
    std::deque<std::pair<HttpRequest, Responder>> queue_;  // guarded by mutex_
};

void echo(HttpRequest request, const Responder& responder) {
    responder.respond(HttpResponse::text(200, "text/plain",
                                         request.method + " " + request.path + " " + request.body + "\n"));
}

std::unique_ptr<HttpServer> serve(HttpHandler handler, HttpLimits limits = {}) {
    auto server = HttpServer::start({.limits = limits}, std::move(handler));
    EXPECT_TRUE(server) << (server ? "" : server.error().message);
    return std::move(*server);
}

TEST(HttpServer, SaysThatThePortIsTaken) {
    const auto first = serve(echo);
    const auto second = HttpServer::start({.port = first->port()}, echo);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::Conflict);
    EXPECT_THAT(second.error().message, HasSubstr(std::to_string(first->port()) + " on 127.0.0.1 is in use"));
}

TEST(HttpServer, RefusesAnAddressThatIsNotThisMachines) {
    const auto server = HttpServer::start({.address = "192.0.2.1"}, echo);
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code, Errc::InvalidArgument);
}

TEST(HttpServer, TakesItsPortAgainRightAfterStopping) {
    auto first = serve(echo);
    const auto port = first->port();
    RawClient client{port};
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client.read_until("GET / ");
    first.reset();
    EXPECT_TRUE(HttpServer::start({.port = port}, echo));
}

TEST(HttpServer, ReadsARequestThatComesByteByByte) {
    const auto server = serve(echo);
    RawClient client{server->port()};
    client.send_bytewise(
        "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    EXPECT_THAT(client.read_until("abc\n"), HasSubstr("POST /a abc\n"));
    client.send_bytewise("PUT /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nde");
    EXPECT_THAT(client.read_until("de\n"), HasSubstr("PUT /b de\n"));
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
    const auto server = serve(echo);
    RawClient client{server->port()};
    std::string all;
    for (int i = 0; i < 100; ++i) all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
    client.send(all);
    for (int i = 0; i < 100; ++i)
        EXPECT_THAT(client.read_until(" \n"), HasSubstr("GET /" + std::to_string(i) + " "));
}

TEST(HttpServer, ClosesAfterGarbageWithAnAnswer) {
    const auto server = serve(echo);
    for (const auto& bytes : {std::string("\0\0\0\0", 4), std::string("SSH-2.0-x\r\n\r\n"),
                              std::string("GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n")}) {
        RawClient client{server->port()};
        client.send(bytes);
        EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 400 "));
    }
}

TEST(HttpServer, LetsAClientThatStillSendsSeeWhyItWasRefused) {
    const auto server = serve(echo, {.body = 1000});
    RawClient client{server->port()};
    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n");
    client.send(std::string(8'000'000, 'x'));
    EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 413 "));
}

TEST(HttpServer, SendsALargeAnswerToASlowReader) {
    const auto picture = std::make_shared<const std::string>(5'000'000, 'p');
    const auto server = serve([&](const HttpRequest&, const Responder& responder) {
        responder.respond({.status = 200, .headers = {{"Content-Type", "image/png"}}, .body = picture});
    });
    RawClient client{server->port()};
    // The next request is there already: the server must neither read it early
    // nor be kept busy by it while the answer does not go out.
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const auto all = client.read_all();
    EXPECT_EQ(static_cast<std::size_t>(std::count(all.begin(), all.end(), 'p')) / 1000,
              2 * picture->size() / 1000);
    EXPECT_THAT(all, EndsWith("ppp"));
}

TEST(HttpServer, TellsWhenTheClientGoesAwayBeforeTheAnswer) {
    Held held;
    const auto server = serve(held.handler());
    for (const bool half : {false, true}) {
        RawClient client{server->port()};
        client.send("POST /wait HTTP/1.1\r\nHost: x\r\n\r\n");
        const auto [request, responder] = held.next();
        std::promise<void> gone;
        responder.on_disconnect([&] { gone.set_value(); });
        EXPECT_FALSE(responder.disconnected());
        if (half) {
            client.close_sending();
        } else {
            client.close();
        }
        EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds{20}), std::future_status::ready);
        responder.respond({.status = 200});  // harmless
    }
}

TEST(HttpServer, AnswersInternalErrorForADroppedRequestAndAThrowingHandler) {
    const auto server = serve([](const HttpRequest& request, const Responder&) {
        if (request.path == "/throw") throw std::runtime_error{"oops"};
    });
    RawClient client{server->port()};
    client.send(
        "GET /drop HTTP/1.1\r\nHost: x\r\n\r\nGET /throw HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const auto all = client.read_all();
    EXPECT_THAT(all, StartsWith("HTTP/1.1 500 "));
    EXPECT_THAT(all, HasSubstr("}HTTP/1.1 500 "));
    EXPECT_THAT(all, HasSubstr(R"({"error":{"code":"internal",)"));
    EXPECT_EQ(all.find("oops"), std::string::npos);
}

// Only the net thread may touch libwebsockets: for the thread sanitizer.
TEST(HttpServer, TakesAnswersFromManyThreadsForManyConnections) {
    Held held;
    const auto server = serve(held.handler());
    constexpr int kClients = 200;
    std::vector<std::jthread> workers;
    std::atomic<int> left{kClients};
    for (int i = 0; i < 4; ++i)
        workers.emplace_back([&] {
            while (left.fetch_sub(1) > 0) {
                auto [request, responder] = held.next();
                responder.on_disconnect([] {});
                echo(std::move(request), responder);
            }
        });
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < kClients; ++i) {
        clients.push_back(std::make_unique<RawClient>(server->port()));
        ASSERT_TRUE(clients.back()->connected());
        clients.back()->send("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    for (int i = 0; i < kClients; ++i)
        EXPECT_THAT(clients[static_cast<std::size_t>(i)]->read_until(" \n"),
                    EndsWith("GET /" + std::to_string(i) + " \n"));
}

TEST(HttpServer, SaysNoToMoreConnectionsThanAllowed) {
    const auto server = serve(echo, {.connections = 2});
    RawClient first{server->port()};
    RawClient second{server->port()};
    for (auto* client : {&first, &second}) {
        client->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        client->read_until("GET / ");
    }
    RawClient third{server->port()};
    EXPECT_THAT(third.read_all(), StartsWith("HTTP/1.1 503 "));
    second.send("GET /again HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(second.read_until("again"), HasSubstr("HTTP/1.1 200"));
}

TEST(HttpServer, EndsRequestsThatDripIn) {
    const auto server = serve(echo, {.head_time = std::chrono::milliseconds{50}});
    RawClient client{server->port()};
    client.send("GET / HTTP/1.1\r\nHo");
    EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, ClosesConnectionsThatSayNothing) {
    const auto server = serve(echo, {.idle = std::chrono::milliseconds{50}});
    RawClient client{server->port()};
    EXPECT_EQ(client.read_all(), "");
}

// What the process computes while each kind of waiting goes on; 4.1.6 of
// libwebsockets has several ways to spin.
TEST(HttpServer, DoesNotSpinWhileItWaits) {
    Held held;
    const auto server = serve(held.handler());
    RawClient idle{server->port()};
    RawClient waiting{server->port()};
    RawClient sends_ahead{server->port()};
    RawClient does_not_read{server->port()};
    const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    waiting.send(get);
    const auto first = held.next();
    does_not_read.send(get + get);
    held.next().second.respond(HttpResponse::text(200, "image/png", std::string(20 << 20, 'p')));
    sends_ahead.send(get + std::string(200'000, 'x'));
    const auto second = held.next();

    const auto cpu_time = [] {
        timespec time{};
        ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
    };
    // Until a poll finds that it has become quiet; spinning never does.
    auto quiet = false;
    for (int i = 0; i < 50 && !quiet; ++i) {
        const auto before = cpu_time();
        ::poll(nullptr, 0, 100);
        quiet = cpu_time() - before < std::chrono::milliseconds{5};
    }
    EXPECT_TRUE(quiet);
}

TEST(HttpServer, StopsWhileRequestsAreOpen) {
    Held held;
    auto server = serve(held.handler());
    RawClient client{server->port()};
    RawClient stuck{server->port()};
    client.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    stuck.send("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    auto [request, responder] = held.next();
    auto [other_request, other] = held.next();
    std::atomic<int> told{0};
    responder.on_disconnect([&] { ++told; });
    other.on_disconnect([&] { ++told; });
    server->stop();
    server->stop();
    EXPECT_EQ(told, 2);
    EXPECT_EQ(client.read_all(), "");
    server.reset();
    responder.respond({.status = 200});  // to nobody
}

TEST(HttpServer, SendsAnswersThatWereGivenBeforeItStops) {
    Held held;
    auto server = serve(held.handler());
    RawClient client{server->port()};
    client.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    auto [request, responder] = held.next();
    responder.respond(HttpResponse::text(200, "text/plain", "last words"));
    server->stop();
    EXPECT_THAT(client.read_all(), EndsWith("last words"));
}

}  // namespace
}  // namespace dormouse::wsio

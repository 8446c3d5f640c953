// SPDX-License-Identifier: Apache-2.0
// The protocol around the operations: who may ask, how, and what goes wrong.
#include "hostd/api/api_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>

#include "hostd/api/routes.h"
#include "hostd/base/unique_fd.h"
#include "served_api.h"

namespace dormouse::api {
namespace {

using ApiServerTest = ServedApi;

TEST_F(ApiServerTest, AnswersHealthWithoutAToken) {
    const auto response = send({.url = url("/healthz")});
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, R"({"status":"ok"})");
}

TEST_F(ApiServerTest, TellsItsVersionToThoseWithAToken) {
    EXPECT_EQ(ask("GET", "/v1/version").body,
              R"({"version":"0.1.0","api":"v1","qemu":"7.2.19","accelerator":"tcg",)"
              R"("accelerator_reason":"no vmx"})");
    EXPECT_EQ(send({.url = url("/v1/version")}).status, 401);
}

TEST_F(ApiServerTest, AsksForATokenEverywhereInV1) {
    for (const auto& route : route_table()) {
        if (!route.pattern.starts_with("/v1/")) continue;
        auto path = std::string{route.pattern};
        for (const auto* parameter : {"{desktop}", "{token}"})
            if (const auto at = path.find(parameter); at != std::string::npos)
                path.replace(at, std::string_view{parameter}.size(), "shop");
        const auto none = send({.method = std::string{route.method}, .url = url(path)});
        EXPECT_EQ(error_of(none),
                  "unauthenticated: this needs a token (send it as a header: Authorization: Bearer dm_...)");
        EXPECT_EQ(wsio::find_header(none.headers, "www-authenticate"), R"(Bearer realm="dormouse")");
        const auto unknown = send({.method = std::string{route.method},
                                   .url = url(path),
                                   .headers = {{"Authorization", "Bearer dm_wrong"}},
                                   .body = "not even JSON"});
        EXPECT_EQ(error_of(unknown),
                  "unauthenticated: this token is not known (make one with: ./dormouse token create NAME)");
        EXPECT_EQ(wsio::find_header(unknown.headers, "www-authenticate"), R"(Bearer realm="dormouse")");
    }
    EXPECT_TRUE(gateway.commands().empty());
}

TEST_F(ApiServerTest, SaysWhoAsks) {
    send({.url = url("/v1/desktops"), .headers = {{"Authorization", "Bearer dm_agent"}}});
    ask("GET", "/v1/desktops");
    const auto callers = gateway.callers();
    ASSERT_EQ(callers.size(), 2u);
    EXPECT_EQ(callers[0].token, "t-agent");
    EXPECT_EQ(callers[0].scope, desktop::Scope::Agent);
    EXPECT_EQ(callers[1].scope, desktop::Scope::Admin);
}

TEST_F(ApiServerTest, PassesOnThatTheTokensCannotBeRead) {
    gateway.authentication_error = Error{Errc::Io, "the disk is gone", "", 0};
    EXPECT_EQ(error_of(ask("GET", "/v1/desktops")), "io: the disk is gone");
}

TEST_F(ApiServerTest, DeniesToAgentsWhatIsForAdministrators) {
    const auto response = send({.url = url("/v1/tokens"), .headers = {{"Authorization", "Bearer dm_agent"}}});
    EXPECT_EQ(error_of(response), "denied: this needs a token of scope admin");
}

TEST_F(ApiServerTest, KnowsNoOtherPaths) {
    EXPECT_EQ(error_of(ask("GET", "/v1/windows")),
              "not_found: there is nothing at /v1/windows (docs/api/openapi.yaml lists what there is)");
    EXPECT_EQ(ask("GET", "/v1/desktops/").status, 404);
    EXPECT_EQ(ask("GET", "/favicon.ico").status, 404);
    EXPECT_EQ(ask("HEAD", "/nowhere").body, "");
}

TEST_F(ApiServerTest, SaysWhichMethodsAPathHas) {
    const auto response = ask("PUT", "/v1/desktops/shop");
    EXPECT_EQ(response.status, 405);
    EXPECT_EQ(
        error_of(response),
        "invalid_argument: PUT is not possible on /v1/desktops/shop (possible: GET, HEAD, PATCH, DELETE)");
    EXPECT_EQ(wsio::find_header(response.headers, "allow"), "GET, HEAD, PATCH, DELETE");
    const auto preflight = ask("OPTIONS", "/v1/desktops", {}, {{"Origin", "http://evil.example"}});
    EXPECT_EQ(preflight.status, 405);
    EXPECT_FALSE(preflight.headers.contains("access-control-allow-origin"));
}

TEST_F(ApiServerTest, LetsNoTrickInAPathThrough) {
    for (const auto* name : {"..", "%2e%2e", "a%2Fb", "%2Fetc%2Fpasswd", "a%00b", "a%0Ab", "a%20b", "%FF",
                             "%zz", "Shop", "-shop", "1shop", "shop%27", "caf%C3%A9", "*"}) {
        const auto response = ask("GET", std::string{"/v1/desktops/"} + name);
        EXPECT_TRUE(response.status == 400 || response.status == 404) << name << " " << response.status;
        EXPECT_TRUE(schema::parse<schema::ErrorBody>(response.body)) << name << " " << response.body;
        EXPECT_GE(ask("DELETE", std::string{"/v1/desktops/"} + name).status, 400) << name;
        EXPECT_GE(ask("DELETE", std::string{"/v1/tokens/"} + name).status, 400) << name;
    }
    for (const auto* path :
         {"/v1/desktops/../tokens", "/v1//desktops", "/v1/./desktops", "/v1/desktops/%2e%2e/tokens",
          "/assets/..%2fstyle.css", "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd"})
        EXPECT_GE(ask("GET", path).status, 400) << path;
    EXPECT_EQ(error_of(ask("GET", "/v1/desktops/Shop")),
              "invalid_argument: 'Shop' is not a desktop id or name "
              "(use 1 to 40 characters: lower-case letters, digits and '-', beginning with a letter)");
    EXPECT_EQ(ask("GET", "/v1/desktops/" + std::string(41, 'a')).status, 400);
    EXPECT_EQ(ask("GET", "/v1/desktops/" + std::string(20'000, 'a')).status, 400);
    EXPECT_TRUE(gateway.commands().empty());
}

TEST_F(ApiServerTest, TakesNothingFromTheQuery) {
    EXPECT_EQ(error_of(ask("GET", "/v1/desktops/shop?limit=1")),
              "invalid_argument: query.limit: unknown parameter (nothing is taken from the query)");
    EXPECT_EQ(send({.url = url("/?utm=1")}).status, 200) << "a page";
}

TEST_F(ApiServerTest, TakesJsonOnly) {
    const auto response = ask("POST", "/v1/desktops", R"({"name":"shop"})",
                              {{"Content-Type", "application/x-www-form-urlencoded"}});
    EXPECT_EQ(error_of(response),
              "invalid_argument: Content-Type: application/x-www-form-urlencoded is not understood "
              "(send JSON with Content-Type: application/json; with curl: --json instead of -d)");
    EXPECT_EQ(ask("POST", "/v1/desktops", "{}", {{"Content-Type", "application/json; charset=utf-8"}}).status,
              201);
    EXPECT_EQ(gateway.commands().size(), 1u);
}

TEST_F(ApiServerTest, LetsNoOtherSiteChangeAnything) {
    const auto response = ask("POST", "/v1/desktops/shop/stop", "", {{"Origin", "http://evil.example"}});
    EXPECT_EQ(error_of(response).substr(0, 54), "denied: pages of http://evil.example may not do this (");
    EXPECT_TRUE(gateway.commands().empty());
    const auto own = "http://127.0.0.1:" + std::to_string(port());
    EXPECT_EQ(ask("POST", "/v1/desktops/shop/stop", "", {{"Origin", own}}).status, 202);
    const auto read = ask("GET", "/v1/desktops", "", {{"Origin", "http://evil.example"}});
    EXPECT_EQ(read.status, 200);
    EXPECT_FALSE(read.headers.contains("access-control-allow-origin"));
}

TEST_F(ApiServerTest, TakesBodiesUpToALimit) {
    const std::string space(1 << 20, ' ');
    EXPECT_EQ(error_of(ask("POST", "/v1/desktops", "{}" + space)),
              "too_large: body: longer than 1048576 bytes");
    EXPECT_EQ(ask("POST", "/v1/desktops", "{}" + space.substr(2)).status, 201);
    EXPECT_EQ(ask("POST", "/v1/desktops", std::string(5 << 20, ' ')).status, 413);
}

TEST_F(ApiServerTest, GivesEveryErrorOfTheDomainItsStatus) {
    gateway.handler = [](desktop::Command command, Cancel) -> Task<Result<desktop::Answer>> {
        const auto& name = std::get<desktop::GetDesktop>(command).desktop;
        co_return fail(*schema::errc_from_name(name == "invalid-argument" ? "invalid_argument"
                                               : name == "not-found"      ? "not_found"
                                               : name == "too-large"      ? "too_large"
                                                                          : name),
                       "why \"not\"", "do this");
    };
    const std::pair<const char*, int> expected[] = {
        {"invalid-argument", 400}, {"denied", 403},      {"not-found", 404},
        {"conflict", 409},         {"too-large", 413},   {"unavailable", 503},
        {"timeout", 504},          {"interrupted", 502}, {"io", 500},
        {"corrupt", 500},          {"internal", 500}};
    for (const auto& [name, status] : expected) {
        const auto response = ask("GET", std::string{"/v1/desktops/"} + name);
        EXPECT_EQ(response.status, status) << name;
        EXPECT_NE(error_of(response).find(": why \"not\" (do this)"), std::string::npos) << response.body;
    }
}

TEST_F(ApiServerTest, SurvivesAnExceptionFromTheDomain) {
    gateway.handler = [](desktop::Command, Cancel) -> Task<Result<desktop::Answer>> {
        throw std::runtime_error{"secret detail"};
        co_return desktop::Answer{};
    };
    EXPECT_EQ(error_of(ask("GET", "/v1/desktops")),
              "internal: something went wrong inside (the daemon's log says more)");
    gateway.handler = nullptr;
    EXPECT_EQ(ask("GET", "/v1/desktops").status, 200);
}

TEST_F(ApiServerTest, SaysSoWhenACommandGivesAnAnswerOfAnotherKind) {
    gateway.handler = [](desktop::Command, Cancel) -> Task<Result<desktop::Answer>> {
        co_return desktop::Answer{desktop::Done{}};
    };
    for (const auto* path :
         {"/v1/desktops", "/v1/desktops/shop", "/v1/desktops/shop/screenshot", "/v1/tokens"})
        EXPECT_EQ(ask("GET", path).status, 500) << path;
    EXPECT_EQ(ask("POST", "/v1/desktops").status, 500);
    EXPECT_EQ(ask("POST", "/v1/desktops/shop/actions", R"({"action":"screenshot"})").status, 500);
}

// A command that lasts until it is cancelled, and tells the test what happens.
struct Endless {
    std::promise<void> begun;
    std::promise<void> cancelled;
};

Task<Result<desktop::Answer>> last_until_cancelled(EventLoop& loop, Endless& endless, Cancel cancel) {
    endless.begun.set_value();
    Completion<bool> done{loop};
    cancel.on_cancel([done]() mutable { done.complete(true); });
    co_await done;
    endless.cancelled.set_value();
    co_return fail(Errc::Interrupted, "cancelled");
}

TEST_F(ApiServerTest, CancelsTheCommandOfAClientThatGoesAway) {
    Endless endless;
    gateway.handler = [&](desktop::Command, Cancel cancel) {
        return last_until_cancelled(loop(), endless, cancel);
    };

    UniqueFd client{::socket(AF_INET, SOCK_STREAM, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const std::string_view request =
        "GET /v1/desktops HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer dm_admin\r\n\r\n";
    ASSERT_EQ(::write(client.get(), request.data(), request.size()), static_cast<ssize_t>(request.size()));
    endless.begun.get_future().get();
    client.reset();
    EXPECT_EQ(endless.cancelled.get_future().wait_for(std::chrono::seconds{20}), std::future_status::ready);
}

TEST_F(ApiServerTest, CancelsWhatIsInProgressWhenItStops) {
    Endless endless;
    gateway.handler = [&](desktop::Command, Cancel cancel) {
        return last_until_cancelled(loop(), endless, cancel);
    };
    std::jthread client{[this] {
        (void)wsio::http_request(
            {.url = url("/v1/desktops"), .headers = {{"Authorization", "Bearer dm_admin"}}})
            .has_value();
    }};
    endless.begun.get_future().get();
    stop();
    EXPECT_EQ(endless.cancelled.get_future().wait_for(std::chrono::seconds{0}), std::future_status::ready)
        << "finished() waits for it";
}

TEST_F(ApiServerTest, AnswersOthersWhileACommandLasts) {
    Endless endless;
    gateway.handler = [&](desktop::Command command, Cancel cancel) -> Task<Result<desktop::Answer>> {
        if (std::holds_alternative<desktop::ListDesktops>(command))
            return last_until_cancelled(loop(), endless, cancel);
        return [](desktop::Answer answer) -> Task<Result<desktop::Answer>> {
            co_return answer;
        }(desktop::Answer{example_desktop()});
    };
    std::jthread client{[this] {
        (void)wsio::http_request(
            {.url = url("/v1/desktops"), .headers = {{"Authorization", "Bearer dm_admin"}}})
            .has_value();
    }};
    endless.begun.get_future().get();
    EXPECT_EQ(ask("GET", "/v1/desktops/shop").status, 200);
    stop();
}

}  // namespace
}  // namespace dormouse::api

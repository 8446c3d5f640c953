// SPDX-License-Identifier: Apache-2.0
#include "hostd/client/api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>

#include "hostd/wsio/http_server.h"
#include "hostd/wsio/listener.h"

namespace dormouse::client {
namespace {

using testing::HasSubstr;
using wsio::HttpRequest;
using wsio::HttpResponse;

// A real HTTP server that gives one prepared answer and remembers the request.
class FakeDaemon {
  public:
    FakeDaemon() {
        auto started =
            wsio::HttpServer::start({}, [this](HttpRequest request, const wsio::Responder& responder) {
                std::lock_guard lock{mutex_};
                last_ = std::move(request);
                responder.respond(answer_);
            });
        server_ = std::move(*started);
    }

    ApiClient client() const {
        return ApiClient{"http://127.0.0.1:" + std::to_string(server_->port()) + "/", Secret{"dm_secret"}};
    }
    void answers(HttpResponse response) {
        std::lock_guard lock{mutex_};
        answer_ = std::move(response);
    }
    void answers(int status, std::string json) { answers(HttpResponse::json(status, std::move(json))); }
    // "METHOD path body" of the last request.
    std::string asked() {
        std::lock_guard lock{mutex_};
        return last_.method + " " + last_.path + (last_.body.empty() ? "" : " " + last_.body);
    }
    // "a=1 b=2" of the last request, sorted by name.
    std::string query() {
        std::lock_guard lock{mutex_};
        std::string text;
        for (const auto& [name, value] : last_.query) text += (text.empty() ? "" : " ") + name + "=" + value;
        return text;
    }
    std::string header(std::string_view name) {
        std::lock_guard lock{mutex_};
        return std::string{wsio::find_header(last_.headers, name)};
    }

  private:
    std::mutex mutex_;
    HttpRequest last_;     // guarded by mutex_
    HttpResponse answer_;  // guarded by mutex_
    std::unique_ptr<wsio::HttpServer> server_;
};

schema::Desktop sample() {
    schema::Desktop desktop;
    desktop.id = "d-1a2b3c4d5e";
    desktop.name = "research";
    desktop.image = "desktop";
    desktop.state = "running";
    desktop.ready = true;
    desktop.created_at = WallTime{std::chrono::seconds{1'700'000'000}};
    desktop.screen = {1280, 800};
    desktop.memory_mib = 2048;
    desktop.cpus = 2;
    desktop.accelerator = "tcg";
    return desktop;
}

TEST(ApiClient, SendsItsTokenAndReadsADesktop) {
    FakeDaemon daemon;
    daemon.answers(200, schema::to_json(sample()));
    const auto desktop = daemon.client().get_desktop("research");
    ASSERT_TRUE(desktop) << desktop.error().message;
    EXPECT_EQ(*desktop, sample());
    EXPECT_EQ(daemon.asked(), "GET /v1/desktops/research");
    EXPECT_EQ(daemon.header("authorization"), "Bearer dm_secret");
}

TEST(ApiClient, AsksForEachEndpointAsDocumented) {
    FakeDaemon daemon;
    const auto client = daemon.client();
    daemon.answers(201, schema::to_json(sample()));
    EXPECT_TRUE(client.create_desktop({.name = "research"}));
    EXPECT_THAT(daemon.asked(), testing::StartsWith("POST /v1/desktops {"));
    EXPECT_THAT(daemon.asked(), HasSubstr(R"("name":"research")"));
    EXPECT_EQ(daemon.header("content-type"), "application/json");
    daemon.answers(202, schema::to_json(sample()));
    EXPECT_TRUE(client.start_desktop("a"));
    EXPECT_EQ(daemon.asked(), "POST /v1/desktops/a/start");
    EXPECT_TRUE(client.stop_desktop("a"));
    EXPECT_EQ(daemon.asked(), "POST /v1/desktops/a/stop");
    EXPECT_TRUE(client.restart_desktop("a"));
    EXPECT_EQ(daemon.asked(), "POST /v1/desktops/a/restart");
    daemon.answers(200, schema::to_json(schema::DesktopList{{sample(), sample()}}));
    EXPECT_EQ(client.list_desktops()->desktops.size(), 2u);
    EXPECT_EQ(daemon.asked(), "GET /v1/desktops");
    daemon.answers({.status = 204});
    EXPECT_TRUE(client.delete_desktop("a"));
    EXPECT_EQ(daemon.asked(), "DELETE /v1/desktops/a");
    daemon.answers(200, R"({"status":"ok"})");
    EXPECT_TRUE(client.health());
    EXPECT_EQ(daemon.asked(), "GET /healthz");
    daemon.answers(200, schema::to_json(schema::Version{"0.1.0", "v1", "7.2.0", "tcg", "no /dev/kvm"}));
    EXPECT_EQ(client.version()->qemu, "7.2.0");
    EXPECT_EQ(daemon.asked(), "GET /v1/version");
}

TEST(ApiClient, ManagesTokens) {
    FakeDaemon daemon;
    const auto client = daemon.client();
    const schema::Token token{.id = "t-1",
                              .name = "ci",
                              .scope = "agent",
                              .created_at = WallTime{std::chrono::seconds{1'700'000'000}}};
    daemon.answers(201, schema::to_json(schema::NewToken{token, Secret{"dm_new"}}));
    const auto made = client.create_token({"ci", "agent"});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE(made->secret.equals("dm_new"));
    EXPECT_THAT(daemon.asked(), testing::StartsWith("POST /v1/tokens {"));
    daemon.answers(200, schema::to_json(schema::TokenList{{token}}));
    EXPECT_EQ(client.list_tokens()->tokens.at(0), token);
    daemon.answers({.status = 204});
    EXPECT_TRUE(client.delete_token("t-1"));
    EXPECT_EQ(daemon.asked(), "DELETE /v1/tokens/t-1");
}

TEST(ApiClient, GetsAScreenshotWithItsSize) {
    FakeDaemon daemon;
    daemon.answers({.status = 200,
                    .headers = {{"Content-Type", "image/png"},
                                {"X-Dormouse-Width", "1280"},
                                {"X-Dormouse-Height", "800"},
                                {"ETag", "\"f7\""}},
                    .body = std::make_shared<const std::string>("\x89PNG")});
    const auto shot = daemon.client().screenshot("a");
    ASSERT_TRUE(shot) << shot.error().message;
    EXPECT_EQ(daemon.asked(), "GET /v1/desktops/a/screenshot");
    EXPECT_EQ(shot->bytes, "\x89PNG");
    EXPECT_EQ(shot->media_type, "image/png");
    EXPECT_EQ(shot->width, 1280);
    EXPECT_EQ(shot->height, 800);
    EXPECT_EQ(shot->etag, "\"f7\"");
    daemon.answers(200, "{}");
    EXPECT_EQ(daemon.client().screenshot("a").error().code, Errc::Corrupt);
}

TEST(ApiClient, AsksForPicturesOfAnyForm) {
    FakeDaemon daemon;
    daemon.answers(wsio::HttpResponse::text(200, "image/webp", "RIFF"));
    schema::PictureOptions options;
    options.format = schema::PictureFormat::Webp;
    options.region = schema::Region{1, 2, 30, 40};
    options.scale = 0.5;
    options.max_width = 100;
    options.max_height = 90;
    options.quality = 60;
    options.max_bytes = 5000;
    options.cursor = true;
    ASSERT_TRUE(daemon.client().screenshot("a", options));
    EXPECT_EQ(daemon.asked(), "GET /v1/desktops/a/screenshot");
    EXPECT_EQ(
        daemon.query(),
        "cursor=true format=webp max_bytes=5000 max_height=90 max_width=100 quality=60 region=1,2,30,40 "
        "scale=0.5");
    EXPECT_EQ(daemon.client().screenshot("a").error().code, Errc::Corrupt) << "a WebP for a PNG";
}

TEST(ApiClient, GivesTheResultsBeforeAFailedAction) {
    FakeDaemon daemon;
    schema::ActionsRequest request;
    request.actions.push_back({.kind = schema::ActionKind::LeftClick, .coordinate = schema::Point{5, 6}});
    request.actions.push_back({.kind = schema::ActionKind::Key, .text = "Hyper+q"});

    daemon.answers(200, R"({"results":[{"action":"left_click","ok":true,"took_ms":12}]})");
    const auto good = daemon.client().act("a", request);
    ASSERT_TRUE(good) << good.error().message;
    EXPECT_THAT(daemon.asked(), testing::StartsWith("POST /v1/desktops/a/actions {"));
    EXPECT_EQ(good->results.size(), 1u);
    EXPECT_FALSE(good->failure);

    daemon.answers(503,
                   R"({"error":{"code":"unavailable","message":"it stopped","hint":"","action_index":1},)"
                   R"("results":[{"action":"left_click","ok":true,"took_ms":12}]})");
    const auto half = daemon.client().act("a", request);
    ASSERT_TRUE(half) << half.error().message;
    EXPECT_EQ(half->results.size(), 1u);
    EXPECT_EQ(half->failure->error.code, Errc::Unavailable);
    EXPECT_EQ(half->failure->action_index, 1);

    daemon.answers(404, R"({"error":{"code":"not_found","message":"no desktop a","hint":""}})");
    const auto none = daemon.client().act("a", request);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::NotFound);
}

TEST(ApiClient, PassesOnWhatTheServerSaysIsWrong) {
    FakeDaemon daemon;
    daemon.answers(409, R"({"error":{"code":"conflict","message":"it is stopped","hint":"start it first"}})");
    const auto desktop = daemon.client().get_desktop("a");
    ASSERT_FALSE(desktop);
    EXPECT_EQ(desktop.error().code, Errc::Conflict);
    EXPECT_EQ(desktop.error().message, "it is stopped");
    EXPECT_EQ(desktop.error().hint, "start it first");
}

TEST(ApiClient, CopesWithAServerThatIsNotOurs) {
    FakeDaemon daemon;
    daemon.answers(HttpResponse::text(404, "text/html", "<html>"));
    EXPECT_EQ(daemon.client().get_desktop("a").error().code, Errc::NotFound);
    EXPECT_THAT(daemon.client().get_desktop("a").error().message, HasSubstr("404"));
    daemon.answers(HttpResponse::text(200, "text/html", "<html>"));
    EXPECT_EQ(daemon.client().get_desktop("a").error().code, Errc::Corrupt);
}

TEST(ApiClient, SaysHowToStartTheDaemonWhenNobodyListens) {
    std::uint16_t port = 0;
    { port = wsio::local_port(wsio::listen_on("127.0.0.1", 0)->get()); }
    const auto health = ApiClient{"http://127.0.0.1:" + std::to_string(port)}.health();
    ASSERT_FALSE(health);
    EXPECT_EQ(health.error().code, Errc::Unavailable);
    EXPECT_EQ(health.error().hint, "run ./dormouse up");
}

TEST(ApiClient, CannotBeLedToAnotherPathByAName) {
    FakeDaemon daemon;
    const auto desktop = daemon.client().delete_desktop("../tokens/t-1");
    ASSERT_FALSE(desktop);
    EXPECT_EQ(desktop.error().code, Errc::InvalidArgument);
    EXPECT_EQ(daemon.asked(), " ");  // the server refused it before any handler
}

}  // namespace
}  // namespace dormouse::client

// SPDX-License-Identifier: Apache-2.0
// What the server says comes back to the client as it was, also from a newer one.
#include <gtest/gtest.h>

#include "hostd/schema/schema.h"

namespace dormouse::schema {
namespace {

using namespace std::chrono_literals;

Desktop example_desktop() {
    Desktop desktop;
    desktop.id = "d-1a2b3c4d5e";
    desktop.name = "shop";
    desktop.image = "desktop";
    desktop.state = "running";
    desktop.ready = true;
    desktop.labels = {{"team", "search"}};
    desktop.created_at = WallTime{1'796'043'194s};
    desktop.updated_at = WallTime{1'796'043'196s};
    desktop.started_at = WallTime{1'796'043'195s + 5ms};
    desktop.screen = {1280, 800};
    desktop.memory_mib = 2048;
    desktop.cpus = 2;
    desktop.accelerator = "tcg";
    return desktop;
}

TEST(Desktop, IsWrittenInTheOrderOfTheDocumentation) {
    EXPECT_EQ(
        to_json(example_desktop()),
        R"({"id":"d-1a2b3c4d5e","name":"shop","template":"desktop","labels":{"team":"search"},)"
        R"("state":"running","reason":null,"ready":true,)"
        R"("created_at":"2026-11-30T12:53:14.000Z","updated_at":"2026-11-30T12:53:16.000Z","started_at":"2026-11-30T12:53:15.005Z",)"
        R"("screen":{"width":1280,"height":800},"memory_mib":2048,"cpus":2,"accelerator":"tcg","exit":null,)"
        R"("network":{"mode":"open"}})");
}

TEST(Desktop, ComesBackAsItWas) {
    auto desktop = example_desktop();
    EXPECT_EQ(parse<Desktop>(to_json(desktop)).value(), desktop);
    desktop.state = "failed";
    desktop.reason = "the machine ended";
    desktop.started_at.reset();
    desktop.exit = Exit{"signal 9 (Killed)", {"one", "two \"quoted\""}};
    EXPECT_EQ(parse<Desktop>(to_json(desktop)).value(), desktop);
    const auto list = parse<DesktopList>(to_json(DesktopList{{example_desktop(), desktop}, "more"})).value();
    EXPECT_EQ(list.next_cursor, "more");
    EXPECT_EQ(list.desktops, (std::vector<Desktop>{example_desktop(), desktop}));
    EXPECT_TRUE(parse<DesktopList>(R"({"desktops":[]})").value().desktops.empty());
}

TEST(Desktop, OfANewerServerIsUnderstood) {
    auto text = to_json(example_desktop());
    text.insert(1, R"("lease":{"holder":null},"name":"old",)");
    EXPECT_EQ(parse<Desktop>(text).value(), example_desktop());
}

TEST(Desktop, ThatCannotBeUnderstoodIsCorrupt) {
    const auto list = parse<DesktopList>(R"({"desktops":[{"id":"d-1","name":5}]})");
    EXPECT_EQ(list.error().code, Errc::Corrupt);
    EXPECT_EQ(list.error().message, "desktops[0].name: must be a string");
    EXPECT_EQ(parse<Desktop>("<html>").error().code, Errc::Corrupt);
    EXPECT_EQ(parse<Desktop>("").error().code, Errc::Corrupt);
    EXPECT_EQ(parse<Desktop>("{}").error().message, "id: missing");
    auto text = to_json(example_desktop());
    text.replace(text.find("2026-11-30"), 10, "2026-99-30");
    EXPECT_EQ(parse<Desktop>(text).error().message, "created_at: not a time as in RFC 3339");
}

TEST(ActionsResponse, ComesBackWithItsPictures) {
    ActionsResponse response;
    response.results.push_back({.action = "left_click", .ok = true, .took = 12ms, .image = {}});
    response.results.push_back({.action = "screenshot",
                                .ok = true,
                                .took = 8ms,
                                .image = Image{"image/png", std::string{"\x89PNG\0\xff", 6}, 1280, 800}});
    const auto text = to_json(response);
    EXPECT_EQ(text, R"({"results":[{"action":"left_click","ok":true,"took_ms":12},)"
                    R"({"action":"screenshot","ok":true,"took_ms":8,"image":{"media_type":"image/png",)"
                    R"("data":"iVBORwD/","width":1280,"height":800}}]})");
    const auto read = parse<ActionsResponse>(text).value();
    EXPECT_FALSE(read.failure);
    ASSERT_EQ(read.results.size(), 2u);
    EXPECT_EQ(read.results[0].took, 12ms);
    EXPECT_FALSE(read.results[0].image);
    EXPECT_EQ(read.results[1].image->data, (std::string{"\x89PNG\0\xff", 6}));
    EXPECT_EQ(read.results[1].image->width, 1280);
}

TEST(ActionsResponse, TellsWhatTheActionsLedTo) {
    ActionsResponse response;
    response.results.push_back({.action = "cursor_position", .took = 1ms, .position = Point{640, 400}});
    response.screenshot = Image{"image/webp", "x", 640, 400, 1280, 800};
    response.changed = {Region{1, 2, 3, 4}};
    response.settling = Settling{true, 612ms};
    const auto text = to_json(response);
    EXPECT_EQ(text,
              R"({"results":[{"action":"cursor_position","ok":true,"took_ms":1,"x":640,"y":400}],)"
              R"("screenshot":{"media_type":"image/webp","data":"eA==","width":640,"height":400,)"
              R"("screen_width":1280,"screen_height":800},)"
              R"("changed":[{"x":1,"y":2,"width":3,"height":4}],"settled":{"settled":true,"took_ms":612}})");
    const auto read = parse<ActionsResponse>(text).value();
    EXPECT_EQ(read.results[0].position, (Point{640, 400}));
    ASSERT_TRUE(read.screenshot);
    EXPECT_EQ(read.screenshot->screen_width, 1280);
    EXPECT_EQ(read.changed, response.changed);
    EXPECT_TRUE(read.settling->settled);
    EXPECT_EQ(read.settling->took, 612ms);
}

TEST(ActionsResponse, SaysWhichActionFailedAndWhatWasDoneBefore) {
    ActionsResponse response;
    response.results.push_back({.action = "key", .ok = true, .took = 1ms, .image = {}});
    response.failure = ErrorBody{{Errc::Conflict, "the desktop has stopped", "", 0}, 1};
    const auto text = to_json(response);
    EXPECT_EQ(
        text,
        R"({"error":{"code":"conflict","message":"the desktop has stopped","hint":"","action_index":1},)"
        R"("results":[{"action":"key","ok":true,"took_ms":1}]})");
    const auto read = parse<ActionsResponse>(text).value();
    EXPECT_EQ(read.failure->action_index, 1);
    EXPECT_EQ(read.failure->error.code, Errc::Conflict);
    EXPECT_EQ(read.results.size(), 1u);
}

TEST(ActionsResponse, MayBeAPlainErrorAndNotNothing) {
    EXPECT_TRUE(parse<ActionsResponse>(R"({"error":{"code":"not_found","message":"x"}})").value().failure);
    EXPECT_EQ(parse<ActionsResponse>("{}").error().message, "results: missing");
    EXPECT_EQ(parse<ActionsResponse>(R"({"results":[{"action":"screenshot","ok":true,"took_ms":1,"image":
                                     {"media_type":"image/png","data":"*","width":1,"height":1}}]})")
                  .error()
                  .message,
              "results[0].image.data: not base64");
}

TEST(Token, ComesBackAsItWas) {
    Token token{.id = "t-1",
                .name = "laptop",
                .scope = "agent",
                .limits = {},
                .created_at = WallTime{1s},
                .last_used_at = {},
                .expires_at = {}};
    EXPECT_EQ(to_json(token),
              R"({"id":"t-1","name":"laptop","scope":"agent","desktops":null,"label":null,"commands":null,)"
              R"("created_at":"1970-01-01T00:00:01.000Z","last_used_at":null,"expires_at":null})");
    EXPECT_EQ(parse<Token>(to_json(token)).value(), token);
    token.limits = {{"shop", "d-1"}, "team=a", {"look"}};
    token.expires_at = WallTime{2s};
    EXPECT_EQ(parse<Token>(to_json(token)).value(), token);
    EXPECT_EQ(parse<TokenList>(to_json(TokenList{{token}})).value().tokens, std::vector<Token>{token});
    const auto created = parse<NewToken>(to_json(NewToken{token, Secret{"dm_x"}})).value();
    EXPECT_EQ(created.token, token);
    EXPECT_EQ(created.secret.reveal_for_transport(), "dm_x");
}

TEST(Service, SaysItsVersionAndHealth) {
    const Version version{.version = "0.1.0",
                          .api = "v1",
                          .qemu = "7.2.9",
                          .accelerator = "tcg",
                          .accelerator_reason = "no /dev/kvm"};
    EXPECT_EQ(parse<Version>(to_json(version)).value(), version);
    EXPECT_EQ(to_json(Health{}), R"({"status":"ok"})");
    EXPECT_EQ(parse<Health>(to_json(Health{})).value().status, "ok");
}

}  // namespace
}  // namespace dormouse::schema

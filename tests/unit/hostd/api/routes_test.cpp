// SPDX-License-Identifier: Apache-2.0
// Every operation: what it asks of the domain, and what becomes of the answer.
#include "hostd/api/routes.h"

#include "hostd/schema/schema.h"
#include "served_api.h"

namespace dormouse::api {
namespace {

using namespace std::chrono_literals;
using RoutesTest = ServedApi;

TEST_F(RoutesTest, CreatesADesktop) {
    const auto response = ask("POST", "/v1/desktops", R"({"name":"shop","template":"office"})");
    EXPECT_EQ(response.status, 201);
    EXPECT_EQ(wsio::find_header(response.headers, "location"), "/v1/desktops/d-1a2b3c4d5e");
    const auto desktop = schema::parse<schema::Desktop>(response.body).value();
    EXPECT_EQ(desktop.name, "shop");
    EXPECT_EQ(desktop.state, "running");
    EXPECT_EQ(desktop.screen, (schema::Screen{1280, 800}));
    EXPECT_EQ(desktop.created_at, WallTime{1'796'043'194s});
    const auto command = only_command<desktop::CreateDesktop>();
    EXPECT_EQ(command.name->str(), "shop");
    EXPECT_EQ(command.image.str(), "office");
}

TEST_F(RoutesTest, CreatesADesktopWhileTheClientGoesOn) {
    for (const auto& [query, header] :
         {std::pair{"?async=true", ""}, std::pair{"", "return=minimal, respond-async"}}) {
        const auto response = ask("POST", std::string{"/v1/desktops"} + query, "{}", {{"Prefer", header}});
        EXPECT_EQ(response.status, 202);
        EXPECT_EQ(wsio::find_header(response.headers, "location"), "/v1/operations/op-1");
        EXPECT_EQ(schema::parse<schema::OperationAnswer>(response.body).value().operation.kind,
                  "desktop.create");
    }
    EXPECT_EQ(ask("POST", "/v1/desktops?async=false", "{}", {{"Prefer", "respond-async"}}).status, 201);
    EXPECT_EQ(error_of(ask("POST", "/v1/desktops?async=soon")),
              "invalid_argument: query.async: must be true or false");
}

TEST_F(RoutesTest, ShowsWaitsForAndCancelsAnOperation) {
    const auto shown = ask("GET", "/v1/operations/op-1?wait=1.5");
    const auto operation = schema::parse<schema::Operation>(shown.body).value();
    EXPECT_EQ(operation.state, "running");
    EXPECT_EQ(operation.progress, 0.5);
    EXPECT_EQ(operation.desktop, "d-1a2b3c4d5e");
    EXPECT_EQ(only_command<desktop::GetOperation>().wait, 1500ms);
    EXPECT_EQ(ask("POST", "/v1/operations/op-1/cancel").status, 200);
    EXPECT_EQ(ask("POST", "/v1/operations/op-2/cancel").status, 404);
    EXPECT_EQ(error_of(ask("GET", "/v1/operations/op-1?wait=61")),
              "invalid_argument: query.wait: must be a number from 0 to 60");
    const auto list = schema::parse<schema::OperationList>(ask("GET", "/v1/operations").body).value();
    ASSERT_EQ(list.operations.size(), 1u);
    const auto log = schema::parse<schema::OperationLog>(ask("GET", "/v1/operations/op-1/log?offset=7").body);
    EXPECT_EQ(log->text, "one\n");
    EXPECT_EQ(log->next_offset, 11u);
    EXPECT_EQ(error_of(ask("GET", "/v1/operations/op-1/log?offset=-1")).substr(0, 32),
              "invalid_argument: query.offset: ");
}

TEST_F(RoutesTest, BuildsShowsAndRemovesTemplates) {
    const auto begun = ask("POST", "/v1/templates", R"({"recipe":"from = \"desktop\"","name":"office"})");
    EXPECT_EQ(begun.status, 202);
    EXPECT_EQ(wsio::find_header(begun.headers, "location"), "/v1/operations/op-1");
    EXPECT_EQ(only_command<desktop::BuildTemplate>().recipe, "from = \"desktop\"");
    EXPECT_EQ(only_command<desktop::BuildTemplate>().name->str(), "office");
    EXPECT_EQ(error_of(ask("POST", "/v1/templates", R"({"recipe":"x","name":"../x"})")).substr(0, 17),
              "invalid_argument:");
    EXPECT_EQ(error_of(ask("POST", "/v1/templates", R"({"recipe":""})")).substr(0, 24),
              "invalid_argument: recipe");

    const auto shown = schema::parse<schema::Template>(ask("GET", "/v1/templates/office").body).value();
    EXPECT_EQ(shown.name, "office");
    EXPECT_EQ(shown.screen.width, 1024);
    EXPECT_EQ(shown.stale_reason, "changed since: the recipe");
    EXPECT_EQ(shown.recipe, "name = \"office\"\n");
    EXPECT_EQ(schema::parse<schema::TemplateList>(ask("GET", "/v1/templates").body).value().templates.size(),
              1U);
    const auto log =
        schema::parse<schema::OperationLog>(ask("GET", "/v1/templates/office/log?offset=7").body);
    EXPECT_EQ(log->next_offset, 11U);
    EXPECT_EQ(ask("DELETE", "/v1/templates/office").status, 204);
    EXPECT_EQ(ask("DELETE", "/v1/templates/other").status, 404);
    EXPECT_EQ(ask("GET", "/v1/templates/Up").status, 400);
}

TEST_F(RoutesTest, ListsWhatFits) {
    const auto response = ask(
        "GET",
        "/v1/desktops?label=team%3Da&label=x&state=running&state=failed&template=desktop&limit=7&cursor=c");
    const auto list = schema::parse<schema::DesktopList>(response.body).value();
    EXPECT_EQ(list.next_cursor, "next");
    const auto command = only_command<desktop::ListDesktops>();
    EXPECT_EQ(command.labels, (std::vector<LabelFilter>{{"team", "a"}, {"x", {}}}));
    EXPECT_EQ(command.states, (std::vector{desktop::State::Running, desktop::State::Failed}));
    EXPECT_EQ(command.image->str(), "desktop");
    EXPECT_EQ(command.limit, 7);
    EXPECT_EQ(command.cursor, "c");
    EXPECT_EQ(error_of(ask("GET", "/v1/desktops?state=asleep")).substr(0, 50),
              "invalid_argument: query.state: 'asleep' is not a s");
    EXPECT_EQ(error_of(ask("GET", "/v1/desktops?label=Team")).substr(0, 38),
              "invalid_argument: query.label: 'Team' ");
    EXPECT_EQ(error_of(ask("GET", "/v1/desktops?limit=1001")),
              "invalid_argument: query.limit: must be a whole number from 1 to 1000");
}

TEST_F(RoutesTest, ChangesADesktop) {
    const auto response =
        ask("PATCH", "/v1/desktops/shop",
            R"({"name":"mail","labels":{"team":"a","old":null},"network":{"mode":"none"}})");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(schema::parse<schema::Desktop>(response.body)->labels, (Labels{{"team", "a"}}));
    const auto command = only_command<desktop::UpdateDesktop>();
    EXPECT_EQ(command.name->str(), "mail");
    EXPECT_EQ(command.network, net::Mode::None);
    EXPECT_EQ(command.labels.at("team"), "a");
    EXPECT_FALSE(command.labels.at("old"));
    EXPECT_EQ(error_of(ask("PATCH", "/v1/desktops/shop", R"({"labels":{"Team":"a"}})")).substr(0, 49),
              "invalid_argument: labels.Team: 'Team' is not the ");
    EXPECT_EQ(error_of(ask("PATCH", "/v1/desktops/shop", R"({"labels":{"team":1}})")),
              "invalid_argument: labels.team: must be a text, or null to remove it");
    EXPECT_EQ(error_of(ask("PATCH", "/v1/desktops/shop", R"({"state":"x"})")),
              "invalid_argument: state: unknown field (fields: name, labels, network)");
    EXPECT_EQ(ask("PATCH", "/v1/desktops/shop", "[]").status, 400);
}

TEST_F(RoutesTest, MakesLimitedTokens) {
    const auto response = ask("POST", "/v1/tokens",
                              R"({"name":"x","scope":"agent","label":"team=a","commands":["look","act"],)"
                              R"("expires_at":"2026-12-31T00:00:00Z"})");
    EXPECT_EQ(response.status, 201);
    const auto command = only_command<desktop::CreateToken>();
    EXPECT_EQ(command.limits.label, (LabelFilter{"team", "a"}));
    EXPECT_TRUE(command.limits.groups.contains(desktop::CommandGroup::Act));
    EXPECT_TRUE(command.expires_at);
    const auto said = [&](const std::string& more) {
        return error_of(ask("POST", "/v1/tokens", R"({"name":"x","scope":"agent",)" + more + "}"))
            .substr(18, 22);
    };
    EXPECT_EQ(said(R"("desktops":["A"])"), "desktops[0]: 'A' is no");
    EXPECT_EQ(said(R"("desktops":[])"), "desktops: must have 1 ");
    EXPECT_EQ(said(R"("label":"team")"), "label: a token's label");
    EXPECT_EQ(said(R"("commands":["fly"])"), "commands: 'fly' is not");
    EXPECT_EQ(said(R"("expires_at":"soon")"), "expires_at: not a time");
}

TEST_F(RoutesTest, ShowsTheAuditLog) {
    const auto response =
        ask("GET",
            "/v1/audit?desktop=shop&token=t-1&command=desktop.&outcome=failed&limit=5&cursor=c&"
            "since=2026-11-30T00:00:00Z&until=2026-12-01T00:00:00Z");
    const auto page = schema::parse<schema::AuditPage>(response.body).value();
    ASSERT_EQ(page.entries.size(), 1u);
    EXPECT_EQ(page.entries[0].outcome, "failed");
    EXPECT_EQ(page.next_cursor, "older");
    const auto command = only_command<desktop::ListAudit>();
    EXPECT_EQ(command.about, "shop");
    EXPECT_TRUE(command.since < command.until);
    EXPECT_EQ(command.limit, 5);
    EXPECT_EQ(error_of(ask("GET", "/v1/audit?since=yesterday")).substr(0, 41),
              "invalid_argument: query.since: not a time");
}

TEST_F(RoutesTest, CreatesADesktopFromNothing) {
    EXPECT_EQ(ask("POST", "/v1/desktops").status, 201);
    const auto command = only_command<desktop::CreateDesktop>();
    EXPECT_FALSE(command.name);
    EXPECT_EQ(command.image.str(), "desktop");
}

TEST_F(RoutesTest, CreatesNothingFromABadRequest) {
    EXPECT_EQ(error_of(ask("POST", "/v1/desktops", R"({"name":"../x"})")).substr(0, 54),
              "invalid_argument: name: '../x' is not a desktop name (");
    EXPECT_EQ(error_of(ask("POST", "/v1/desktops", R"({"nam":"x"})")),
              "invalid_argument: nam: unknown field (fields: name, template, network, labels)");
    EXPECT_EQ(error_of(ask("POST", "/v1/desktops", "{")), "invalid_argument: body: not valid JSON at byte 2");
    EXPECT_TRUE(gateway.commands().empty());
}

TEST_F(RoutesTest, ListsDesktops) {
    const auto list = schema::parse<schema::DesktopList>(ask("GET", "/v1/desktops").body).value();
    ASSERT_EQ(list.desktops.size(), 2u);
    EXPECT_EQ(list.desktops[1].state, "stopped");
    only_command<desktop::ListDesktops>();
}

TEST_F(RoutesTest, ShowsADesktopByNameAndById) {
    EXPECT_EQ(schema::parse<schema::Desktop>(ask("GET", "/v1/desktops/shop").body).value().id,
              "d-1a2b3c4d5e");
    EXPECT_EQ(only_command<desktop::GetDesktop>().desktop, "shop");
    EXPECT_EQ(ask("GET", "/v1/desktops/d-1a2b3c4d5e").status, 200);
    EXPECT_EQ(error_of(ask("GET", "/v1/desktops/other")), "not_found: there is no desktop 'other'");
    const auto head = ask("HEAD", "/v1/desktops/shop");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.body, "");
}

TEST_F(RoutesTest, ShowsWhyADesktopFailed) {
    gateway.handler = [](desktop::Command, Cancel) -> Task<Result<desktop::Answer>> {
        auto info = example_desktop(desktop::State::Failed);
        info.reason = "its machine has ended";
        info.started_at.reset();
        info.exit = desktop::ExitInfo{"signal 9 (Killed)", {"one", "two"}};
        co_return desktop::Answer{std::move(info)};
    };
    const auto desktop = schema::parse<schema::Desktop>(ask("GET", "/v1/desktops/shop").body).value();
    EXPECT_EQ(desktop.state, "failed");
    EXPECT_EQ(desktop.reason, "its machine has ended");
    EXPECT_FALSE(desktop.started_at);
    EXPECT_EQ(desktop.exit, (schema::Exit{"signal 9 (Killed)", {"one", "two"}}));
}

TEST_F(RoutesTest, DeletesADesktop) {
    const auto response = ask("DELETE", "/v1/desktops/shop");
    EXPECT_EQ(response.status, 204);
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(only_command<desktop::DeleteDesktop>().desktop, "shop");
    EXPECT_EQ(ask("DELETE", "/v1/desktops/other").status, 404);
}

TEST_F(RoutesTest, StartsStopsAndRestartsADesktop) {
    for (const auto& body : {std::string{}, std::string{"{}"}}) {
        EXPECT_EQ(
            schema::parse<schema::Desktop>(ask("POST", "/v1/desktops/shop/start", body).body).value().state,
            "starting");
        EXPECT_EQ(ask("POST", "/v1/desktops/shop/stop", body).status, 202);
        EXPECT_EQ(ask("POST", "/v1/desktops/shop/restart", body).status, 202);
    }
    const auto commands = gateway.commands();
    ASSERT_EQ(commands.size(), 6u);
    EXPECT_EQ(std::get<desktop::StartDesktop>(commands[0]).desktop, "shop");
    EXPECT_EQ(std::get<desktop::StopDesktop>(commands[1]).desktop, "shop");
    EXPECT_EQ(std::get<desktop::RestartDesktop>(commands[2]).desktop, "shop");
    for (const auto* verb : {"start", "stop", "restart"}) {
        const auto path = std::string{"/v1/desktops/shop/"} + verb;
        EXPECT_EQ(error_of(ask("POST", path, R"({"force":true})")),
                  "invalid_argument: force: unknown field (fields: none)");
        EXPECT_EQ(ask("GET", path).status, 405);
        EXPECT_EQ(ask("POST", std::string{"/v1/desktops/other/"} + verb).status, 404);
    }
}

TEST_F(RoutesTest, SendsThePictureOnceForEachContent) {
    const auto first = ask("GET", "/v1/desktops/shop/screenshot");
    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.body, "\x89PNG-one");
    EXPECT_EQ(wsio::find_header(first.headers, "content-type"), "image/png");
    EXPECT_EQ(wsio::find_header(first.headers, "x-dormouse-width"), "1280");
    EXPECT_EQ(wsio::find_header(first.headers, "x-dormouse-height"), "800");
    EXPECT_EQ(wsio::find_header(first.headers, "cache-control"), "no-store");
    const std::string etag{wsio::find_header(first.headers, "etag")};
    ASSERT_FALSE(etag.empty());

    const auto second = ask("GET", "/v1/desktops/shop/screenshot", {}, {{"If-None-Match", "\"x\", " + etag}});
    EXPECT_EQ(second.status, 304);
    EXPECT_EQ(second.body, "");
    EXPECT_EQ(wsio::find_header(second.headers, "etag"), etag);

    gateway.handler = [](desktop::Command, Cancel) -> Task<Result<desktop::Answer>> {
        co_return desktop::Answer{example_picture("\x89PNG-two")};
    };
    const auto third = ask("GET", "/v1/desktops/shop/screenshot", {}, {{"If-None-Match", etag}});
    EXPECT_EQ(third.status, 200) << "also when the generation is the same, as after a restart";
    EXPECT_EQ(third.body, "\x89PNG-two");
    const auto head = ask("HEAD", "/v1/desktops/shop/screenshot");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.body, "");
    EXPECT_EQ(wsio::find_header(head.headers, "content-length"), "8");
}

TEST_F(RoutesTest, AsksForAPictureOfAnyForm) {
    gateway.handler = [](desktop::Command, Cancel) -> Task<Result<desktop::Answer>> {
        auto picture = example_picture("RIFF", 9);
        picture.media_type = "image/webp";
        picture.width = 150;
        picture.height = 100;
        picture.screen_width = 1280;
        picture.screen_height = 800;
        picture.region = {10, 20, 300, 200};
        picture.quality = 45;
        picture.cursor = "outside";
        picture.tag = "abc-9-webp";
        co_return desktop::Answer{std::move(picture)};
    };
    const std::string path =
        "/v1/desktops/shop/screenshot?format=webp&region=10,20,300,200&scale=0.5&max_width=200&max_height=150"
        "&quality=60&max_bytes=2000&cursor=true";
    const auto response = ask("GET", path);
    EXPECT_EQ(response.status, 200) << response.body;
    const auto header = [&](std::string_view name) { return wsio::find_header(response.headers, name); };
    EXPECT_EQ(header("content-type"), "image/webp");
    EXPECT_EQ(header("etag"), "\"abc-9-webp\"");
    EXPECT_EQ(header("x-dormouse-width"), "150");
    EXPECT_EQ(header("x-dormouse-screen-height"), "800");
    EXPECT_EQ(header("x-dormouse-region"), "10,20,300,200");
    EXPECT_EQ(header("x-dormouse-quality"), "45");
    EXPECT_EQ(header("x-dormouse-cursor"), "outside");
    const auto asked = only_command<desktop::TakeScreenshot>().picture;
    EXPECT_EQ(asked.format, desktop::PictureFormat::Webp);
    EXPECT_EQ(asked.region, (desktop::Region{10, 20, 300, 200}));
    EXPECT_EQ(asked.scale, 0.5);
    EXPECT_EQ(asked.max_width, 200);
    EXPECT_EQ(asked.max_height, 150);
    EXPECT_EQ(asked.quality, 60);
    EXPECT_EQ(asked.max_bytes, 2000u);
    EXPECT_TRUE(asked.cursor);
    EXPECT_EQ(ask("GET", path, {}, {{"If-None-Match", "\"abc-9-webp\""}}).status, 304);
}

TEST_F(RoutesTest, HasNoPictureOfADesktopThatIsNotThere) {
    EXPECT_EQ(ask("GET", "/v1/desktops/other/screenshot").status, 404);
    EXPECT_EQ(ask("POST", "/v1/desktops/shop/screenshot").status, 405);
}

TEST_F(RoutesTest, CarriesOutOneAction) {
    const auto response =
        ask("POST", "/v1/desktops/shop/actions", R"({"action":"left_click","coordinate":[640,400]})");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, R"({"results":[{"action":"left_click","ok":true,"took_ms":5}]})");
    const auto command = only_command<desktop::Act>();
    EXPECT_EQ(command.desktop, "shop");
    const auto& click = std::get<desktop::ClickAction>(command.actions.at(0));
    EXPECT_EQ(click.at, (desktop::Point{640, 400}));
    EXPECT_EQ(click.count, 1);
    EXPECT_EQ(click.button, desktop::Button::Left);
}

TEST_F(RoutesTest, CarriesOutActionsOfEveryKind) {
    const auto response = ask("POST", "/v1/desktops/shop/actions", R"({"actions":[
        {"action":"right_click"}, {"action":"double_click","coordinate":[1,2]}, {"action":"mouse_move","coordinate":[3,4]},
        {"action":"left_click_drag","start_coordinate":[5,6],"coordinate":[7,8]},
        {"action":"scroll","scroll_direction":"up","scroll_amount":9,"coordinate":[10,11]},
        {"action":"key","text":"ctrl+s"}, {"action":"type","text":"naïve 🦔"}, {"action":"wait","duration":0.5},
        {"action":"screenshot"}]})");
    EXPECT_EQ(response.status, 200);
    const auto results = schema::parse<schema::ActionsResponse>(response.body).value().results;
    ASSERT_EQ(results.size(), 9u);
    EXPECT_EQ(results.back().image->data, "\x89PNG-one");
    EXPECT_EQ(results.back().image->media_type, "image/png");

    const auto actions = only_command<desktop::Act>().actions;
    EXPECT_EQ(std::get<desktop::ClickAction>(actions[0]).button, desktop::Button::Right);
    EXPECT_FALSE(std::get<desktop::ClickAction>(actions[0]).at);
    EXPECT_EQ(std::get<desktop::ClickAction>(actions[1]).count, 2);
    EXPECT_EQ(std::get<desktop::MoveAction>(actions[2]).to, (desktop::Point{3, 4}));
    EXPECT_EQ(std::get<desktop::DragAction>(actions[3]).from, (desktop::Point{5, 6}));
    EXPECT_EQ(std::get<desktop::DragAction>(actions[3]).path, (std::vector{desktop::Point{7, 8}}));
    EXPECT_EQ(std::get<desktop::ScrollAction>(actions[4]).direction, desktop::ScrollDirection::Up);
    EXPECT_EQ(std::get<desktop::ScrollAction>(actions[4]).amount, 9);
    EXPECT_EQ(std::get<desktop::ScrollAction>(actions[4]).at, (desktop::Point{10, 11}));
    EXPECT_EQ(std::get<desktop::KeyAction>(actions[5]).keys, "ctrl+s");
    EXPECT_EQ(std::get<desktop::TypeAction>(actions[6]).text, "naïve 🦔");
    EXPECT_EQ(std::get<desktop::WaitAction>(actions[7]).time, 500ms);
    EXPECT_TRUE(std::holds_alternative<desktop::ScreenshotAction>(actions[8]));
}

TEST_F(RoutesTest, TakesWhatActionsHoldAndTheOptionsOfTheCall) {
    const auto response =
        ask("POST", "/v1/desktops/shop/actions",
            R"({"actions":[{"action":"middle_click","coordinate":[1,2],"text":"ctrl","repeat":2},
        {"action":"left_click_drag","path":[[3,4],[5,6]],"modifiers":["alt"]},
        {"action":"zoom","region":[0,0,10,20],"size":[30,40]},{"action":"left_mouse_down"},
        {"action":"scroll","scroll_direction":"right","scroll_amount":3},{"action":"cursor_position"},
        {"action":"hold_key","keys":["SHIFT","A"],"duration":2},{"action":"type","text":"x","method":"paste"},
        {"action":"back_click"},{"action":"triple_click"}],
        "screenshot":"after","image":{"format":"webp","max_width":640},"coordinates":{"width":640,"height":400}})");
    EXPECT_EQ(response.status, 200);
    const auto act = only_command<desktop::Act>();
    const auto& click = std::get<desktop::ClickAction>(act.actions[0]);
    EXPECT_EQ(click.button, desktop::Button::Middle);
    EXPECT_EQ(click.held, "ctrl");
    EXPECT_EQ(click.repeat, 2);
    const auto& drag = std::get<desktop::DragAction>(act.actions[1]);
    EXPECT_FALSE(drag.from);
    EXPECT_EQ(drag.path, (std::vector<desktop::Point>{{3, 4}, {5, 6}}));
    EXPECT_EQ(drag.held, "alt");
    const auto& zoom = std::get<desktop::ZoomAction>(act.actions[2]);
    EXPECT_EQ(zoom.region, (desktop::Box{0, 0, 10, 20}));
    EXPECT_EQ(zoom.width, 30);
    EXPECT_TRUE(std::get<desktop::LeftButtonAction>(act.actions[3]).down);
    EXPECT_EQ(std::get<desktop::ScrollAction>(act.actions[4]).direction, desktop::ScrollDirection::Right);
    EXPECT_TRUE(std::holds_alternative<desktop::CursorAction>(act.actions[5]));
    const auto& hold = std::get<desktop::HoldKeyAction>(act.actions[6]);
    EXPECT_EQ(hold.keys, "SHIFT+A");
    EXPECT_EQ(hold.time, 2s);
    EXPECT_EQ(std::get<desktop::TypeAction>(act.actions[7]).method, desktop::TypeMethod::Paste);
    EXPECT_EQ(std::get<desktop::ClickAction>(act.actions[8]).button, desktop::Button::Back);
    EXPECT_EQ(std::get<desktop::ClickAction>(act.actions[9]).count, 3);
    EXPECT_EQ(act.options.screenshot, desktop::WithScreenshot::After);
    EXPECT_EQ(act.options.picture.format, desktop::PictureFormat::Webp);
    EXPECT_EQ(act.options.picture.max_width, 640);
    EXPECT_EQ(act.options.coordinates, (desktop::Coordinates{1, 640, 400}));
}

TEST_F(RoutesTest, CarriesOutNothingWhenOneActionIsWrong) {
    EXPECT_EQ(error_of(ask(
                  "POST", "/v1/desktops/shop/actions",
                  R"({"actions":[{"action":"screenshot"},{"action":"left_click","coordinate":[1,"2"]}]})")),
              "invalid_argument: actions[1].coordinate: must be two whole numbers from 0 to 32767, for "
              "example [640, 400] "
              "([x, y] in pixels from the top left corner, for example [640, 400])");
    EXPECT_EQ(ask("POST", "/v1/desktops/shop/actions").status, 400);
    EXPECT_TRUE(gateway.commands().empty());
    EXPECT_EQ(ask("POST", "/v1/desktops/other/actions", R"({"action":"screenshot"})").status, 404);
}

TEST_F(RoutesTest, SaysWhichActionFailedAndWhatWasDoneBefore) {
    gateway.handler = [](desktop::Command, Cancel) -> Task<Result<desktop::Answer>> {
        desktop::ActAnswer answer;
        answer.done.push_back({"left_click", 12ms, {}});
        answer.failure = Error{Errc::Conflict, "the desktop is stopping", "start it first", 0};
        answer.failed_at = 1;
        answer.failed_at = 1;
        co_return desktop::Answer{std::move(answer)};
    };
    const auto response = ask("POST", "/v1/desktops/shop/actions",
                              R"({"actions":[{"action":"left_click"},{"action":"screenshot"}]})");
    EXPECT_EQ(response.status, 409);
    EXPECT_EQ(
        response.body,
        R"({"error":{"code":"conflict","message":"the desktop is stopping","hint":"start it first","action_index":1},)"
        R"("results":[{"action":"left_click","ok":true,"took_ms":12}]})");
}

TEST_F(RoutesTest, SendsLargePictures) {
    gateway.handler = [](desktop::Command, Cancel) -> Task<Result<desktop::Answer>> {
        desktop::ActAnswer answer;
        for (int i = 0; i < 3; ++i)
            answer.done.push_back({"screenshot", 1ms, example_picture(std::string(300'000, 'x'))});
        co_return desktop::Answer{std::move(answer)};
    };
    const auto response = ask("POST", "/v1/desktops/shop/actions", R"({"action":"screenshot"})");
    const auto results = schema::parse<schema::ActionsResponse>(response.body).value().results;
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results[2].image->data, std::string(300'000, 'x'));
}

TEST_F(RoutesTest, MakesATokenAndShowsItsSecretOnce) {
    const auto response = ask("POST", "/v1/tokens", R"({"name":"laptop","scope":"agent"})");
    EXPECT_EQ(response.status, 201);
    EXPECT_EQ(schema::parse<schema::NewToken>(response.body).value().secret.reveal_for_transport(), "dm_new");
    const auto command = only_command<desktop::CreateToken>();
    EXPECT_EQ(command.name, "laptop");
    EXPECT_EQ(command.scope, desktop::Scope::Agent);
    const auto list = ask("GET", "/v1/tokens");
    EXPECT_EQ(schema::parse<schema::TokenList>(list.body).value().tokens.at(0).name, "laptop");
    EXPECT_EQ(list.body.find("secret"), std::string::npos);
    EXPECT_EQ(error_of(ask("POST", "/v1/tokens", R"({"name":"laptop"})")),
              "invalid_argument: scope: missing (one of: viewer, agent, admin)");
}

TEST_F(RoutesTest, DeletesAToken) {
    EXPECT_EQ(ask("DELETE", "/v1/tokens/t-1").status, 204);
    EXPECT_EQ(only_command<desktop::DeleteToken>().token.str(), "t-1");
    EXPECT_EQ(error_of(ask("DELETE", "/v1/tokens/dm_abc")).substr(0, 45),
              "invalid_argument: 'dm_abc' is not a token id ");
}

TEST_F(RoutesTest, ServesThePages) {
    for (const auto* path : {"/", "/desktops/shop"}) {
        const auto response = send({.url = url(path)});
        EXPECT_EQ(response.status, 200);
        EXPECT_EQ(wsio::find_header(response.headers, "content-type"), "text/html; charset=utf-8");
        const std::string policy{wsio::find_header(response.headers, "content-security-policy")};
        for (const auto* part : {"default-src 'none'", "script-src 'self'", "style-src 'self'",
                                 "img-src 'self' blob:", "connect-src 'self'", "frame-ancestors 'none'"})
            EXPECT_NE(policy.find(part), std::string::npos) << part;
        EXPECT_EQ(policy.find("unsafe"), std::string::npos);
        EXPECT_EQ(wsio::find_header(response.headers, "x-content-type-options"), "nosniff");
        const std::string etag{wsio::find_header(response.headers, "etag")};
        EXPECT_EQ(send({.url = url(path), .headers = {{"If-None-Match", etag}}}).status, 304);
    }
    EXPECT_EQ(error_of(send({.url = url("/desktops/Shop")})).substr(0, 24), "invalid_argument: 'Shop'");
}

TEST_F(RoutesTest, ServesTheFilesOfThePages) {
    EXPECT_EQ(wsio::find_header(send({.url = url("/assets/style.css")}).headers, "content-type"),
              "text/css; charset=utf-8");
    EXPECT_EQ(wsio::find_header(send({.url = url("/assets/view.js")}).headers, "content-type"),
              "text/javascript; charset=utf-8");
    EXPECT_EQ(error_of(send({.url = url("/assets/secret.txt")})), "not_found: there is no such file");
}

}  // namespace
}  // namespace dormouse::api

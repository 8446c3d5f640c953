// SPDX-License-Identifier: Apache-2.0
// What requests are taken, and what is said of those that are not.
#include <gtest/gtest.h>

#include <set>

#include <string>

#include "hostd/schema/json.h"
#include "hostd/schema/schema.h"

namespace dormouse::schema {
namespace {

using namespace std::chrono_literals;

template <class T>
std::string complaint(const std::string& text) {
    const auto result = parse<T>(text);
    if (result) return "taken";
    return std::string{errc_name(result.error().code)} + " " + result.error().message;
}
std::string complaint_about_action(const std::string& text) {
    return complaint<ActionsRequest>(text);
}

Action only_action(const std::string& text) {
    const auto result = parse<ActionsRequest>(text);
    EXPECT_TRUE(result) << text << ": " << (result ? "" : result.error().message);
    if (!result || result->actions.size() != 1) return {};
    return result->actions.front();
}

TEST(CreateDesktopRequest, MayBeEmptyInEveryWay) {
    for (const auto* text : {"", "{}", " {\n} "}) {
        const auto request = parse<CreateDesktopRequest>(text).value();
        EXPECT_FALSE(request.name);
        EXPECT_EQ(request.image, "desktop");
    }
}

TEST(CreateDesktopRequest, HasNameAndTemplate) {
    const auto request = parse<CreateDesktopRequest>(R"({"name":"shop-1","template":"office"})").value();
    EXPECT_EQ(request.name, "shop-1");
    EXPECT_EQ(request.image, "office");
    EXPECT_EQ(parse<CreateDesktopRequest>(to_json(request)).value().image, "office");
    EXPECT_EQ(to_json(CreateDesktopRequest{}), R"({"template":"desktop"})");
    EXPECT_EQ(parse<CreateDesktopRequest>(R"({"network":{"mode":"none"}})").value().network->mode, "none");
}

TEST(CreateDesktopRequest, SaysWhichFieldIsWrong) {
    const auto said = complaint<CreateDesktopRequest>;
    EXPECT_EQ(said(R"({"name":7})"), "invalid_argument name: must be a string");
    EXPECT_EQ(said(R"({"name":null})"), "invalid_argument name: must be a string");
    EXPECT_EQ(said(R"({"name":"../x"})"), "invalid_argument name: '../x' is not a desktop name");
    EXPECT_EQ(said(R"({"name":""})"), "invalid_argument name: '' is not a desktop name");
    EXPECT_EQ(said(R"({"name":"a\u0000b"})"), "invalid_argument name: must not contain the character U+0000");
    EXPECT_EQ(said(R"({"template":"A"})"), "invalid_argument template: 'A' is not a template name");
    EXPECT_EQ(said(R"({"nam":"a"})"), "invalid_argument nam: unknown field");
    EXPECT_EQ(said(R"({"name":"a","name":"b"})"), "invalid_argument name: given twice");
    EXPECT_EQ(said(R"({"network":{"mode":"wide"}})").substr(0, 31), "invalid_argument network.mode: ");
    EXPECT_EQ(said("[]"), "invalid_argument body: must be a JSON object");
    EXPECT_EQ(said("null"), "invalid_argument body: must be a JSON object");
    EXPECT_EQ(parse<CreateDesktopRequest>(R"({"nam":"a"})").error().hint,
              "fields: name, template, network, labels");
}

TEST(EmptyRequest, IsNothingOrAnEmptyObject) {
    EXPECT_TRUE(parse<EmptyRequest>(""));
    EXPECT_TRUE(parse<EmptyRequest>("{}"));
    EXPECT_EQ(complaint<EmptyRequest>(R"({"force":true})"), "invalid_argument force: unknown field");
    EXPECT_EQ(complaint<EmptyRequest>("x"), "invalid_argument body: not valid JSON at byte 1");
}

TEST(CreateTokenRequest, NeedsANameAndAScope) {
    const auto said = complaint<CreateTokenRequest>;
    const auto request = parse<CreateTokenRequest>(R"({"name":"Ωmega's laptop","scope":"admin"})").value();
    EXPECT_EQ(request.name, "Ωmega's laptop");
    EXPECT_EQ(request.scope, "admin");
    EXPECT_EQ(to_json(request), R"({"name":"Ωmega's laptop","scope":"admin"})");
    EXPECT_EQ(said("{}"), "invalid_argument name: missing");
    EXPECT_EQ(said(""), "invalid_argument body: not valid JSON at byte 1");
    EXPECT_EQ(said(R"({"name":"a"})"), "invalid_argument scope: missing");
    EXPECT_EQ(said(R"({"name":"","scope":"agent"})"), "invalid_argument name: must not be empty");
    EXPECT_EQ(said(R"({"name":"a\nb","scope":"agent"})"),
              "invalid_argument name: must be one line without control characters");
    EXPECT_EQ(said(R"({"name":"a","scope":"root"})"), "invalid_argument scope: 'root' is not known");
    EXPECT_EQ(said(R"({"name":")" + std::string(101, 'a') + R"(","scope":"agent"})"),
              "invalid_argument name: longer than 100 bytes");
    EXPECT_EQ(parse<CreateTokenRequest>(R"({"name":"a","scope":"root"})").error().hint,
              "one of: viewer, agent, admin");
}

TEST(ActionsRequest, MayBeOneActionByItself) {
    EXPECT_EQ(only_action(R"({"action":"screenshot"})"), Action{.kind = ActionKind::Screenshot});
    EXPECT_EQ(only_action(R"({"action":"left_click","coordinate":[640,400]})"),
              (Action{.kind = ActionKind::LeftClick, .coordinate = Point{640, 400}}));
    EXPECT_EQ(only_action(R"({"action":"right_click"})"), Action{.kind = ActionKind::RightClick});
    EXPECT_EQ(only_action(R"({"coordinate":[0,0],"action":"double_click"})"),
              (Action{.kind = ActionKind::DoubleClick, .coordinate = Point{0, 0}}));
    EXPECT_EQ(only_action(R"({"action":"wait","duration":1.5})"),
              (Action{.kind = ActionKind::Wait, .duration = 1500ms}));
    EXPECT_EQ(only_action(R"({"action":"wait","duration":300})"),
              (Action{.kind = ActionKind::Wait, .duration = 300s}));
}

TEST(ActionsRequest, MayBeAListOfEveryKind) {
    const ActionsRequest request{{
        {.kind = ActionKind::Screenshot},
        {.kind = ActionKind::LeftClick, .coordinate = Point{1, 2}},
        {.kind = ActionKind::RightClick},
        {.kind = ActionKind::DoubleClick},
        {.kind = ActionKind::MouseMove, .coordinate = Point{32767, 0}},
        {.kind = ActionKind::LeftClickDrag, .coordinate = Point{5, 6}, .start_coordinate = Point{3, 4}},
        {.kind = ActionKind::Scroll, .scroll_direction = ScrollDirection::Up, .scroll_amount = 100},
        {.kind = ActionKind::Key, .text = "ctrl+shift+t"},
        {.kind = ActionKind::Type, .text = "naïve Ωmega 日本語 مرحبا 🦔\n"},
        {.kind = ActionKind::Wait, .duration = 250ms},
        {.kind = ActionKind::Zoom, .region = Box{1, 2, 30, 40}, .size = Size{600, 400}},
        {.kind = ActionKind::CursorPosition},
        {.kind = ActionKind::MiddleClick, .coordinate = Point{1, 2}, .text = "ctrl+shift"},
        {.kind = ActionKind::BackClick, .repeat = 3},
        {.kind = ActionKind::ForwardClick},
        {.kind = ActionKind::TripleClick, .coordinate = Point{1, 2}, .text = "alt"},
        {.kind = ActionKind::LeftMouseDown},
        {.kind = ActionKind::LeftMouseUp, .coordinate = Point{4, 4}},
        {.kind = ActionKind::HoldKey, .text = "shift", .duration = 2s},
    }};
    std::set<ActionKind> kinds;
    for (const auto& action : request.actions) kinds.insert(action.kind);
    EXPECT_EQ(kinds.size(), all_actions().size());
    EXPECT_EQ(parse<ActionsRequest>(to_json(request)).value().actions, request.actions);
}

TEST(ActionsRequest, TakesEverySpellingOfWhatIsHeldOrPressed) {
    const Action click{.kind = ActionKind::LeftClick, .text = "ctrl+shift"};
    EXPECT_EQ(only_action(R"({"action":"left_click","text":"ctrl+shift"})"), click);
    EXPECT_EQ(only_action(R"({"action":"left_click","modifiers":"ctrl+shift"})"), click);
    EXPECT_EQ(only_action(R"({"action":"left_click","modifiers":["ctrl","shift"]})"), click);
    EXPECT_EQ(only_action(R"({"action":"key","keys":["CTRL","+"]})"),
              (Action{.kind = ActionKind::Key, .text = "CTRL++"}));
    EXPECT_EQ(only_action(R"({"action":"hold_key","keys":["ALT"," "],"duration":1})"),
              (Action{.kind = ActionKind::HoldKey, .text = "ALT+space", .duration = 1s}));
    EXPECT_EQ(complaint_about_action(R"({"action":"key","text":"a","keys":["b"]})"),
              "invalid_argument keys: says the same as text: leave one of them out");
    EXPECT_EQ(complaint_about_action(R"({"action":"left_click","modifiers":[1]})"),
              "invalid_argument modifiers[0]: must be the name of a key");
    EXPECT_EQ(complaint_about_action(R"({"action":"key","keys":[]})"),
              "invalid_argument keys: must have 1 to 8 items, and has 0");
    EXPECT_EQ(complaint_about_action(R"({"action":"key"})"), "invalid_argument text: missing");
}

TEST(ActionsRequest, DragsToAPointOrAlongAPath) {
    EXPECT_EQ(only_action(R"({"action":"left_click_drag","coordinate":[5,6]})"),
              (Action{.kind = ActionKind::LeftClickDrag, .coordinate = Point{5, 6}}));
    EXPECT_EQ(
        only_action(R"({"action":"left_click_drag","start_coordinate":[0,0],"path":[[1,2],[3,4]]})"),
        (Action{
            .kind = ActionKind::LeftClickDrag, .start_coordinate = Point{0, 0}, .path = {{1, 2}, {3, 4}}}));
    EXPECT_EQ(complaint_about_action(R"({"action":"left_click_drag"})"),
              "invalid_argument coordinate: missing");
    EXPECT_EQ(complaint_about_action(R"({"action":"left_click_drag","coordinate":[1,2],"path":[[1,2]]})"),
              "invalid_argument path: says where to drag, as coordinate does: leave one of them out");
    EXPECT_EQ(complaint_about_action(R"({"action":"left_click_drag","path":[[1,2],[1]]})"),
              "invalid_argument path[1]: must be two whole numbers from 0 to 32767, for example [640, 400]");
}

TEST(ActionsRequest, HasOptionsForAllActionsAlsoBesideASingleOne) {
    const auto one = parse<ActionsRequest>(
        R"({"action":"left_click","screenshot":"settled","image":{"format":"jpeg","scale":0.5},
            "coordinates":{"width":640,"height":400}})");
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ(one->screenshot, WithScreenshot::Settled);
    EXPECT_EQ(one->image.format, PictureFormat::Jpeg);
    EXPECT_EQ(one->coordinates, (Coordinates{1, Size{640, 400}}));
    const auto again = parse<ActionsRequest>(to_json(*one));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->image, one->image);
    EXPECT_EQ(again->coordinates, one->coordinates);
    EXPECT_EQ(again->screenshot, one->screenshot);
    const auto list = parse<ActionsRequest>(
        R"({"actions":[{"action":"screenshot"}],"screenshot":"after","coordinates":{"scale":0.25}})");
    ASSERT_TRUE(list);
    EXPECT_EQ(list->coordinates, (Coordinates{0.25, std::nullopt}));
    EXPECT_EQ(complaint_about_action(R"({"action":"wait","duration":1,"coordinates":{}})"),
              "invalid_argument coordinates.scale: give either scale, or width and height");
    EXPECT_EQ(complaint_about_action(R"({"action":"wait","duration":1,"coordinates":{"width":5}})"),
              "invalid_argument coordinates.height: missing");
    EXPECT_EQ(complaint_about_action(R"({"action":"wait","duration":1,"screenshot":"later"})"),
              "invalid_argument screenshot: 'later' is not known");
    EXPECT_EQ(complaint_about_action(R"({"actions":[{"action":"wait","duration":1,"screenshot":"after"}]})"),
              "invalid_argument actions[0].screenshot: unknown field");
}

TEST(ActionsRequest, RefusesWhatNoActionTakes) {
    EXPECT_EQ(complaint_about_action(R"({"action":"key","text":"a","repeat":101})"),
              "invalid_argument repeat: must be a whole number from 1 to 100");
    EXPECT_EQ(complaint_about_action(R"({"action":"double_click","repeat":2})"),
              "invalid_argument repeat: unknown field");
    EXPECT_EQ(complaint_about_action(R"({"action":"type","text":"a","method":"magic"})"),
              "invalid_argument method: 'magic' is not known");
    EXPECT_EQ(complaint_about_action(R"({"action":"zoom","region":[5,5,5,6]})"),
              "invalid_argument region: must be four whole numbers, the right beyond the left and the bottom "
              "beyond the top");
    EXPECT_EQ(complaint_about_action(R"({"action":"zoom"})"), "invalid_argument region: missing");
    EXPECT_EQ(complaint_about_action(R"({"action":"zoom","region":[0,0,5,6],"size":[0,1]})"),
              "invalid_argument size: must be two whole numbers from 1 to 4096");
    EXPECT_EQ(complaint_about_action(R"({"action":"scroll","scroll_direction":"north","scroll_amount":1})"),
              "invalid_argument scroll_direction: 'north' is not known");
}

TEST(ActionsRequest, NamesTheActionThatIsWrong) {
    EXPECT_EQ(complaint_about_action(R"({"actions":[{"action":"screenshot"},{"action":"wait","duration":1},
                                       {"action":"left_click","coordinate":[640,"400"]}]})"),
              "invalid_argument actions[2].coordinate: must be two whole numbers from 0 to 32767, for "
              "example [640, 400]");
    EXPECT_EQ(complaint_about_action(R"({"actions":[{"action":"left_click","cordinate":[1,2]}]})"),
              "invalid_argument actions[0].cordinate: unknown field");
    EXPECT_EQ(
        parse<ActionsRequest>(R"({"actions":[{"action":"left_click","cordinate":[1,2]}]})").error().hint,
        "fields of left_click: action, coordinate, text, modifiers, repeat");
    EXPECT_EQ(complaint_about_action(R"({"actions":[{"action":"mouse_move","cordinate":[1,2]}]})"),
              "invalid_argument actions[0].cordinate: unknown field")
        << "and not that coordinate is missing";
    EXPECT_EQ(complaint_about_action(R"({"actions":[{"action":"mouse_move"}]})"),
              "invalid_argument actions[0].coordinate: missing");
    EXPECT_EQ(complaint_about_action(R"({"actions":[{"action":"fly"}]})"),
              "invalid_argument actions[0].action: 'fly' is not an action");
    EXPECT_EQ(complaint_about_action(R"({"actions":["screenshot"]})"),
              "invalid_argument actions[0]: must be a JSON object");
    EXPECT_EQ(complaint_about_action(R"({"actions":[{"action":"key","text":"a","text":"b"}]})"),
              "invalid_argument actions[0].text: given twice");
}

TEST(ActionsRequest, IsOneActionOrAListAndNotBothOrNone) {
    EXPECT_EQ(complaint_about_action("{}"), "invalid_argument action: missing");
    EXPECT_EQ(complaint_about_action(""), "invalid_argument body: not valid JSON at byte 1");
    EXPECT_EQ(complaint_about_action(R"({"action":"screenshot","actions":[]})"),
              "invalid_argument actions: unknown field");
    EXPECT_EQ(complaint_about_action(R"({"actions":[{"action":"screenshot"}],"settle":true})"),
              "invalid_argument settle: unknown field");
    EXPECT_EQ(complaint_about_action(R"({"actions":{}})"), "invalid_argument actions: must be a list");
    EXPECT_EQ(complaint_about_action(R"({"actions":[]})"),
              "invalid_argument actions: must have 1 to 100 items, and has 0");
    std::string many = R"({"actions":[{"action":"screenshot"})";
    for (int i = 0; i < 100; ++i) many += R"(,{"action":"screenshot"})";
    EXPECT_EQ(complaint_about_action(many + "]}"),
              "invalid_argument actions: must have 1 to 100 items, and has 101");
}

TEST(ActionsRequest, TakesWholeNumbersInsideTheLimitsOnly) {
    for (const auto* point :
         {"[1]", "[1,2,3]", "[-1,2]", "[1,32768]", "[1.5,2]", "[1.0,2]", "[1e2,2]", "[null,2]", "[true,2]",
          "[[1],2]", "{}", "null", "\"1,2\"", "[99999999999999999999999,1]"})
        EXPECT_EQ(
            complaint_about_action(std::string{R"({"action":"left_click","coordinate":)"} + point + "}"),
            "invalid_argument coordinate: must be two whole numbers from 0 to 32767, for example [640, 400]")
            << point;
    for (const auto* amount : {"0", "101", "-1", "1.5", "3.0", "\"3\"", "null", "18446744073709551615"})
        EXPECT_EQ(
            complaint_about_action(
                std::string{R"({"action":"scroll","scroll_direction":"up","scroll_amount":)"} + amount + "}"),
            "invalid_argument scroll_amount: must be a whole number from 1 to 100")
            << amount;
    for (const auto* duration : {"-0.1", "300.01", "\"1\"", "null", "1e300"})
        EXPECT_EQ(complaint_about_action(std::string{R"({"action":"wait","duration":)"} + duration + "}"),
                  "invalid_argument duration: must be a number from 0 to 300")
            << duration;
}

TEST(ActionsRequest, TakesTextThatIsText) {
    EXPECT_EQ(complaint_about_action(R"({"action":"type","text":""})"),
              "invalid_argument text: must not be empty");
    EXPECT_EQ(complaint_about_action(R"({"action":"type","text":["a"]})"),
              "invalid_argument text: must be a string");
    EXPECT_EQ(complaint_about_action(R"({"action":"type","text":"a\u0000"})"),
              "invalid_argument text: must not contain the character U+0000");
    EXPECT_EQ(complaint_about_action("{\"action\":\"type\",\"text\":\"a\xff\"}"),
              "invalid_argument body: not valid JSON at byte 27");
    EXPECT_EQ(complaint_about_action(R"({"action":"type","text":"\ud800"})").substr(0, 37),
              "invalid_argument body: not valid JSON");
    EXPECT_EQ(only_action(R"({"action":"type","text":"\ud83e\udd94"})").text, "🦔");
    EXPECT_EQ(only_action(R"({"action":"type","text":")" + std::string(100'000, 'a') + "\"}").text->size(),
              100'000u);
    EXPECT_EQ(complaint_about_action(R"({"action":"type","text":")" + std::string(100'001, 'a') + "\"}"),
              "invalid_argument text: longer than 100000 bytes");
    EXPECT_EQ(complaint_about_action(R"({"action":"key","text":")" + std::string(201, 'a') + "\"}"),
              "invalid_argument text: longer than 200 bytes");
}

TEST(StrictReading, HasLimitsOfDepthLengthAndFields) {
    std::string deep(17, '[');
    EXPECT_EQ(complaint_about_action(deep + std::string(17, ']')),
              "invalid_argument body: nested deeper than 16 levels");
    deep.assign(900'000, '[');
    EXPECT_EQ(complaint_about_action(deep), "invalid_argument body: nested deeper than 16 levels");
    EXPECT_EQ(complaint_about_action(std::string((1 << 20) + 1, ' ')),
              "too_large body: longer than 1048576 bytes");
    std::string wide = "{";
    for (int i = 0; i < 300; ++i) wide += (i ? ",\"" : "\"") + std::to_string(i) + "\":0";
    EXPECT_EQ(complaint_about_action(wide + "}"),
              "invalid_argument body: an object with more than 256 fields");
}

TEST(StrictReading, SaysWhereTextIsNoJson) {
    EXPECT_EQ(complaint_about_action(R"({"action":})"), "invalid_argument body: not valid JSON at byte 11");
    EXPECT_EQ(complaint_about_action(R"({"action":"wait"} x)"),
              "invalid_argument body: not valid JSON at byte 19");
    EXPECT_EQ(complaint_about_action(R"({"action":"wait",})"),
              "invalid_argument body: not valid JSON at byte 18");
    EXPECT_EQ(complaint_about_action(R"({"action":"wait","duration":1e999})"),
              "invalid_argument body: the number that ends at byte 33 is too large");
    EXPECT_EQ(complaint_about_action(R"({"action":NaN})"),
              "invalid_argument body: not valid JSON at byte 11");
}

TEST(StrictReading, ShowsNamesFromOutsideInAFormThatCanBeRead) {
    EXPECT_EQ(complaint<EmptyRequest>("{\"" + std::string(100, 'a') + "\":1}"),
              "invalid_argument " + std::string(40, 'a') + "...: unknown field");
    EXPECT_EQ(complaint<EmptyRequest>(R"({"a\nb\u001b[0m":1})"), "invalid_argument a?b?[0m: unknown field");
    EXPECT_EQ(shown(std::string(39, 'a') + "ä"), std::string(39, 'a') + "...");
}

}  // namespace
}  // namespace dormouse::schema

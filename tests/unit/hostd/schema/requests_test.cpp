// SPDX-License-Identifier: Apache-2.0
// What requests are taken, and what is said of those that are not.
#include <gtest/gtest.h>

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
    EXPECT_EQ(parse<CreateDesktopRequest>(R"({"nam":"a"})").error().hint, "fields: name, template, network");
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
              "one of: agent, admin");
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
    }};
    EXPECT_EQ(request.actions.size(), all_actions().size());
    EXPECT_EQ(parse<ActionsRequest>(to_json(request)).value().actions, request.actions);
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
        "fields of left_click: action, coordinate");
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

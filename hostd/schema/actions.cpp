// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/actions.h"

#include <array>
#include <climits>
#include <cmath>

#include "hostd/schema/base64.h"
#include "hostd/schema/error_json.h"
#include "hostd/schema/reader.h"

namespace dormouse::schema {

namespace {

enum Field : unsigned {
    kCoordinate = 1,
    kStartCoordinate = 2,
    kScrollDirection = 4,
    kScrollAmount = 8,
    kText = 16,
    kDuration = 32,
};

struct Rule {
    ActionKind kind;
    std::string_view name;
    unsigned needed;
    unsigned optional;
};

constexpr std::array<Rule, 10> kRules{{
    {ActionKind::Screenshot, "screenshot", 0, 0},
    {ActionKind::LeftClick, "left_click", 0, kCoordinate},
    {ActionKind::RightClick, "right_click", 0, kCoordinate},
    {ActionKind::DoubleClick, "double_click", 0, kCoordinate},
    {ActionKind::MouseMove, "mouse_move", kCoordinate, 0},
    {ActionKind::LeftClickDrag, "left_click_drag", kStartCoordinate | kCoordinate, 0},
    {ActionKind::Scroll, "scroll", kScrollDirection | kScrollAmount, kCoordinate},
    {ActionKind::Key, "key", kText, 0},
    {ActionKind::Type, "type", kText, 0},
    {ActionKind::Wait, "wait", kDuration, 0},
}};

constexpr std::string_view kPointHint = "[x, y] in pixels from the top left corner, for example [640, 400]";

std::string names_of_actions() {
    std::string names;
    for (const auto& rule : kRules) names += (names.empty() ? "" : ", ") + std::string{rule.name};
    return names;
}

bool is_coordinate(const Json& json) {
    if (json.is_number_unsigned())
        return json.get<std::uint64_t>() <= static_cast<std::uint64_t>(kLargestCoordinate);
    return json.is_number_integer() && json.get<std::int64_t>() >= 0 &&
           json.get<std::int64_t>() <= kLargestCoordinate;
}

std::optional<Point> read_point(ObjectReader& in, std::string_view field, bool needed) {
    if (!in.may_have(field)) {
        if (needed) in.problem().note_missing(in.path_of(field), std::string{kPointHint});
        return std::nullopt;
    }
    const auto& json = *in.take(field);
    if (json.is_array() && json.size() == 2 && is_coordinate(json[0]) && is_coordinate(json[1]))
        return Point{json[0].get<int>(), json[1].get<int>()};
    in.note(field,
            fmt::format("must be two whole numbers from 0 to {}, for example [640, 400]", kLargestCoordinate),
            std::string{kPointHint});
    return std::nullopt;
}

// Asks for the fields in the order in which the documentation names them.
void read_fields(ObjectReader& in, const Rule& rule, Action& action) {
    const auto has = [&](Field field) { return ((rule.needed | rule.optional) & field) != 0; };
    const auto needs = [&](Field field) { return (rule.needed & field) != 0; };
    if (has(kStartCoordinate))
        action.start_coordinate = read_point(in, "start_coordinate", needs(kStartCoordinate));
    if (has(kCoordinate)) action.coordinate = read_point(in, "coordinate", needs(kCoordinate));
    if (has(kScrollDirection))
        action.scroll_direction =
            in.word("scroll_direction", {"up", "down"}) == "up" ? ScrollDirection::Up : ScrollDirection::Down;
    if (has(kScrollAmount))
        action.scroll_amount = static_cast<int>(
            in.whole("scroll_amount", {1, kMostScroll}, "how many clicks of the wheel, for example 3"));
    if (has(kText)) {
        const bool key = rule.kind == ActionKind::Key;
        action.text =
            in.text("text", {.most_bytes = key ? kLongestKeyText : kLongestTypedText, .may_be_empty = false},
                    key ? "one key or a combination, for example Return or ctrl+s" : "what is to be typed");
    }
    if (has(kDuration)) {
        const auto seconds =
            in.number("duration", 0, static_cast<double>(kLongestWait.count()), "seconds, for example 1.5");
        action.duration = Duration{std::llround(seconds * 1e9)};
    }
}

Action read_action(ObjectReader& in) {
    Action action;
    const auto hint = "actions: " + names_of_actions();
    const auto name = in.text("action", {.most_bytes = 100}, hint);
    for (const auto& rule : kRules) {
        if (rule.name != name) continue;
        action.kind = rule.kind;
        in.set_subject(fmt::format("fields of {}", name));
        read_fields(in, rule, action);
        in.finish();
        return action;
    }
    in.note("action", fmt::format("'{}' is not an action", shown(name)), hint);
    return action;
}

Json encode(const Point& point) {
    return Json::array({point.x, point.y});
}

Json encode(const Action& action) {
    Json json;
    json["action"] = action_name(action.kind);
    if (action.start_coordinate) json["start_coordinate"] = encode(*action.start_coordinate);
    if (action.coordinate) json["coordinate"] = encode(*action.coordinate);
    if (action.scroll_direction)
        json["scroll_direction"] = *action.scroll_direction == ScrollDirection::Up ? "up" : "down";
    if (action.scroll_amount) json["scroll_amount"] = *action.scroll_amount;
    if (action.text) json["text"] = *action.text;
    if (action.duration) json["duration"] = std::chrono::duration<double>(*action.duration).count();
    return json;
}

// A picture is half a megabyte, and the core thread writes it: base64 needs no
// escapes, so it does not go through the JSON writer, which looks for them.
void append(std::string& out, const ActionResult& result) {
    out += write_json({{"action", result.action}, {"ok", result.ok}, {"took_ms", result.took.count()}});
    if (!result.image) return;
    out.pop_back();  // the closing brace
    const auto& image = *result.image;
    out += fmt::format(R"(,"image":{{"media_type":{},"data":")", write_json(image.media_type));
    out += encode_base64(image.data);
    out += fmt::format(R"(","width":{},"height":{}}}}})", image.width, image.height);
}

Image decode_image(ObjectReader& in) {
    Image image;
    image.media_type = in.text("media_type");
    auto bytes = decode_base64(in.text("data"));
    if (!bytes) in.note("data", bytes.error().message);
    image.data = std::move(bytes).value_or("");
    image.width = static_cast<int>(in.whole("width", {0, INT_MAX}));
    image.height = static_cast<int>(in.whole("height", {0, INT_MAX}));
    return image;
}

ActionResult decode_result(ObjectReader& in) {
    ActionResult result;
    result.action = in.text("action");
    result.ok = in.boolean("ok");
    result.took = std::chrono::milliseconds{in.whole("took_ms", {0, INT64_MAX / 1'000'000})};
    in.optional_object("image", [&](ObjectReader& image) { result.image = decode_image(image); });
    return result;
}

}  // namespace

std::string_view action_name(ActionKind kind) {
    for (const auto& rule : kRules)
        if (rule.kind == kind) return rule.name;
    return "";
}

std::optional<ActionKind> action_from_name(std::string_view name) {
    for (const auto& rule : kRules)
        if (rule.name == name) return rule.kind;
    return std::nullopt;
}

std::span<const ActionKind> all_actions() {
    static constexpr auto kKinds = [] {
        std::array<ActionKind, kRules.size()> kinds{};
        for (std::size_t i = 0; i < kRules.size(); ++i) kinds[i] = kRules[i].kind;
        return kinds;
    }();
    return kKinds;
}

std::string to_json(const ActionsRequest& request) {
    auto actions = Json::array();
    for (const auto& action : request.actions) actions.push_back(encode(action));
    return write_json({{"actions", std::move(actions)}});
}

std::string to_json(const ActionsResponse& response) {
    std::string out = "{";
    if (response.failure) out += "\"error\":" + write_json(encode(*response.failure)) + ",";
    out += "\"results\":[";
    for (std::size_t i = 0; i < response.results.size(); ++i) {
        if (i > 0) out += ",";
        append(out, response.results[i]);
    }
    return out + "]}";
}

template <>
Result<ActionsRequest> parse<ActionsRequest>(std::string_view text) {
    return read_request<ActionsRequest>(text, [](ObjectReader& in) {
        ActionsRequest request;
        if (in.may_have("action")) {
            request.actions.push_back(read_action(in));
            return request;
        }
        if (!in.may_have("actions")) {
            in.problem().note_missing("action", "send one action, or a list of them as \"actions\"");
            return request;
        }
        in.list("actions", {1, kMostActions}, [&](const Json& item, std::string path) {
            ObjectReader action{item, std::move(path), in.problem()};
            request.actions.push_back(read_action(action));
        });
        return request;
    });
}

template <>
Result<ActionsResponse> parse<ActionsResponse>(std::string_view text) {
    return read_answer<ActionsResponse>(text, [](ObjectReader& in) {
        ActionsResponse response;
        in.optional_object("error", [&](ObjectReader& error) { response.failure = decode_error(error); });
        if (response.failure && !in.has("results")) return response;
        in.list("results", {0, INT_MAX}, [&](const Json& item, std::string path) {
            ObjectReader result{item, std::move(path), in.problem()};
            response.results.push_back(decode_result(result));
        });
        return response;
    });
}

}  // namespace dormouse::schema

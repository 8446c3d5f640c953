// SPDX-License-Identifier: Apache-2.0
// Requests to act; for the answers see actions_response.cpp.
#include "hostd/schema/actions.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>

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
    kKeys = 64,   // "text" as the names of keys, or the list "keys"
    kHeld = 128,  // the same for keys that are held: "text" or "modifiers"
    kRepeat = 256,
    kMethod = 512,
    kRegion = 1024,
    kSize = 2048,
    kPath = 4096,  // "path" in place of "coordinate"
};

struct Rule {
    ActionKind kind;
    std::string_view name;
    unsigned needed;
    unsigned optional;
};

constexpr unsigned kClick = kCoordinate | kHeld;

constexpr std::array<Rule, 19> kRules{{
    {ActionKind::Screenshot, "screenshot", 0, 0},
    {ActionKind::Zoom, "zoom", kRegion, kSize},
    {ActionKind::CursorPosition, "cursor_position", 0, 0},
    {ActionKind::LeftClick, "left_click", 0, kClick | kRepeat},
    {ActionKind::RightClick, "right_click", 0, kClick | kRepeat},
    {ActionKind::MiddleClick, "middle_click", 0, kClick | kRepeat},
    {ActionKind::BackClick, "back_click", 0, kClick | kRepeat},
    {ActionKind::ForwardClick, "forward_click", 0, kClick | kRepeat},
    {ActionKind::DoubleClick, "double_click", 0, kClick},
    {ActionKind::TripleClick, "triple_click", 0, kClick},
    {ActionKind::MouseMove, "mouse_move", kCoordinate, kHeld},
    {ActionKind::LeftMouseDown, "left_mouse_down", 0, kCoordinate},
    {ActionKind::LeftMouseUp, "left_mouse_up", 0, kCoordinate},
    {ActionKind::LeftClickDrag, "left_click_drag", kPath, kStartCoordinate | kHeld},
    {ActionKind::Scroll, "scroll", kScrollDirection | kScrollAmount, kCoordinate | kHeld},
    {ActionKind::Key, "key", kKeys, kRepeat},
    {ActionKind::HoldKey, "hold_key", kKeys | kDuration, 0},
    {ActionKind::Type, "type", kText, kMethod},
    {ActionKind::Wait, "wait", kDuration, 0},
}};

constexpr std::array<std::pair<ScrollDirection, std::string_view>, 4> kDirections{
    {{ScrollDirection::Up, "up"},
     {ScrollDirection::Down, "down"},
     {ScrollDirection::Left, "left"},
     {ScrollDirection::Right, "right"}}};
constexpr std::array<std::pair<TypeMethod, std::string_view>, 3> kMethods{
    {{TypeMethod::Auto, "auto"}, {TypeMethod::Keys, "keys"}, {TypeMethod::Paste, "paste"}}};
constexpr std::array<std::pair<WithScreenshot, std::string_view>, 3> kScreenshots{
    {{WithScreenshot::None, "none"}, {WithScreenshot::After, "after"}, {WithScreenshot::Settled, "settled"}}};

template <class Table, class Value>
std::string_view name_of(const Table& table, Value value) {
    for (const auto& [each, name] : table)
        if (each == value) return name;
    return table.front().second;
}
template <class Table>
auto value_of(const Table& table, std::string_view name) {
    for (const auto& [each, known] : table)
        if (known == name) return each;
    return table.front().first;
}

constexpr std::string_view kPointHint = "[x, y] in pixels from the top left corner, for example [640, 400]";
constexpr std::string_view kKeyHint = "one key or a combination, for example Return or ctrl+s";
constexpr std::string_view kHeldHint = "keys to hold meanwhile, for example ctrl+shift";

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

std::optional<Point> point_in(const Json& json) {
    if (json.is_array() && json.size() == 2 && is_coordinate(json[0]) && is_coordinate(json[1]))
        return Point{json[0].get<int>(), json[1].get<int>()};
    return std::nullopt;
}

std::string bad_point() {
    return fmt::format("must be two whole numbers from 0 to {}, for example [640, 400]", kLargestCoordinate);
}

std::optional<Point> read_point(ObjectReader& in, std::string_view field, bool needed) {
    if (!in.may_have(field)) {
        if (needed) in.problem().note_missing(in.path_of(field), std::string{kPointHint});
        return std::nullopt;
    }
    if (const auto point = point_in(*in.take(field))) return point;
    in.note(field, bad_point(), std::string{kPointHint});
    return std::nullopt;
}

std::vector<Point> read_path(ObjectReader& in) {
    std::vector<Point> path;
    in.list("path", {1, static_cast<std::int64_t>(kMostPathPoints)}, [&](const Json& item, std::string at) {
        if (const auto point = point_in(item)) return path.push_back(*point);
        in.problem().note(std::move(at), bad_point(), std::string{kPointHint});
    });
    return path;
}

std::optional<Box> read_box(ObjectReader& in) {
    constexpr auto kHint = "[left, top, right, bottom] in pixels, for example [100, 100, 500, 400]";
    const auto* json = in.take("region");
    if (!json) {
        in.problem().note_missing(in.path_of("region"), kHint);
        return std::nullopt;
    }
    const auto fits = [](const Json& one) { return is_coordinate(one); };
    if (json->is_array() && json->size() == 4 && std::all_of(json->begin(), json->end(), fits)) {
        const Box box{(*json)[0].get<int>(), (*json)[1].get<int>(), (*json)[2].get<int>(),
                      (*json)[3].get<int>()};
        if (box.left < box.right && box.top < box.bottom) return box;
    }
    in.note("region", "must be four whole numbers, the right beyond the left and the bottom beyond the top",
            kHint);
    return std::nullopt;
}

std::optional<Size> read_size(ObjectReader& in) {
    const auto* json = in.take("size");
    if (!json) return std::nullopt;
    const auto point = point_in(*json);
    if (point && point->x >= 1 && point->y >= 1 && point->x <= kLargestZoom && point->y <= kLargestZoom)
        return Size{point->x, point->y};
    in.note("size", fmt::format("must be two whole numbers from 1 to {}", kLargestZoom),
            "[width, height] of the picture");
    return std::nullopt;
}

// Key names as one text; a list of them is joined to one combination.
std::string key_text(ObjectReader& in, std::string_view field, std::string hint) {
    const auto* json = in.take(field);
    if (json && json->is_array()) {
        std::string text;
        in.list(field, {1, 8}, [&](const Json& item, std::string at) {
            if (!item.is_string() || item.get_ref<const std::string&>().empty())
                return in.problem().note(std::move(at), "must be the name of a key", hint);
            const auto& name = item.get_ref<const std::string&>();
            text += (text.empty() ? "" : "+") + (name == " " ? std::string{"space"} : name);
        });
        if (text.size() > kLongestKeyText)
            in.note(field, fmt::format("longer than {} bytes", kLongestKeyText));
        if (text.find('\0') != std::string::npos) in.note(field, "must not contain the character U+0000");
        return text;
    }
    return in.text(field, {.most_bytes = kLongestKeyText, .may_be_empty = false}, std::move(hint));
}

// `other` may be given in place of "text", in some dialects it is what it is called.
std::optional<std::string> read_keys(ObjectReader& in, std::string_view other, bool needed,
                                     std::string_view hint) {
    const bool text = in.may_have("text");
    const bool list = in.may_have(other);
    if (text && list) in.note(other, "says the same as text: leave one of them out", std::string{hint});
    if (text || list) return key_text(in, text ? "text" : other, std::string{hint});
    if (needed) in.problem().note_missing(in.path_of("text"), std::string{hint});
    return std::nullopt;
}

void read_drag_end(ObjectReader& in, Action& action) {
    const bool path = in.may_have("path");
    const bool end = in.may_have("coordinate");
    if (path && end) in.note("path", "says where to drag, as coordinate does: leave one of them out");
    if (path) {
        action.path = read_path(in);
    } else {
        action.coordinate = read_point(in, "coordinate", true);
    }
}

void read_details(ObjectReader& in, unsigned fields, Action& action) {
    if (fields & kRepeat)
        if (const auto repeat = in.optional_whole("repeat", {1, kMostRepeats}))
            action.repeat = static_cast<int>(*repeat);
    if ((fields & kMethod) && in.may_have("method"))
        action.method = value_of(kMethods, in.word("method", {"auto", "keys", "paste"}));
    if (fields & kRegion) action.region = read_box(in);
    if (fields & kSize) action.size = read_size(in);
}

// Asks for the fields in the order in which the documentation names them.
void read_fields(ObjectReader& in, const Rule& rule, Action& action) {
    const unsigned fields = rule.needed | rule.optional;
    const auto needs = [&](Field field) { return (rule.needed & field) != 0; };
    if (fields & kStartCoordinate) action.start_coordinate = read_point(in, "start_coordinate", false);
    if (fields & kPath) read_drag_end(in, action);
    if (fields & kCoordinate) action.coordinate = read_point(in, "coordinate", needs(kCoordinate));
    if (fields & kScrollDirection)
        action.scroll_direction =
            value_of(kDirections, in.word("scroll_direction", {"up", "down", "left", "right"}));
    if (fields & kScrollAmount)
        action.scroll_amount = static_cast<int>(
            in.whole("scroll_amount", {1, kMostScroll}, "how many clicks of the wheel, for example 3"));
    if (fields & kText)
        action.text =
            in.text("text", {.most_bytes = kLongestTypedText, .may_be_empty = false}, "what is to be typed");
    if (fields & kKeys) action.text = read_keys(in, "keys", true, kKeyHint);
    if (fields & kHeld) action.text = read_keys(in, "modifiers", false, kHeldHint);
    if (fields & kDuration) {
        const auto seconds =
            in.number("duration", 0, static_cast<double>(kLongestWait.count()), "seconds, for example 1.5");
        action.duration = Duration{std::llround(seconds * 1e9)};
    }
    read_details(in, fields, action);
}

Coordinates read_coordinates(ObjectReader& in) {
    Coordinates coordinates;
    const bool scale = in.may_have("scale");
    const bool width = in.may_have("width");
    const bool height = in.may_have("height");
    if (scale == (width || height)) {
        in.problem().note(in.path_of("scale"), "give either scale, or width and height",
                          "those of the screenshot that the coordinates are of");
    } else if (scale) {
        coordinates.scale = in.number("scale", kSmallestScale, 1, "of that screenshot, for example 0.5");
    } else {
        coordinates.size = Size{static_cast<int>(in.whole("width", {1, kLargestCoordinate + 1})),
                                static_cast<int>(in.whole("height", {1, kLargestCoordinate + 1}))};
    }
    return coordinates;
}

void read_options(ObjectReader& in, ActionsRequest& request) {
    if (in.may_have("screenshot"))
        request.screenshot = value_of(kScreenshots, in.word("screenshot", {"none", "after", "settled"}));
    in.optional_object("image", [&](ObjectReader& image) { request.image = read_picture_options(image); });
    in.optional_object("coordinates",
                       [&](ObjectReader& size) { request.coordinates = read_coordinates(size); });
}

const Rule* find_rule(std::string_view name) {
    for (const auto& rule : kRules)
        if (rule.name == name) return &rule;
    return nullptr;
}

// Without finish(): a single action has the options of the request beside it.
Action read_action(ObjectReader& in) {
    Action action;
    const auto hint = "actions: " + names_of_actions();
    const auto name = in.text("action", {.most_bytes = 100}, hint);
    if (const auto* rule = find_rule(name)) {
        action.kind = rule->kind;
        in.set_subject(fmt::format("fields of {}", name));
        read_fields(in, *rule, action);
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
    if (action.region)
        json["region"] = Json::array(
            {action.region->left, action.region->top, action.region->right, action.region->bottom});
    if (action.size) json["size"] = Json::array({action.size->width, action.size->height});
    if (action.start_coordinate) json["start_coordinate"] = encode(*action.start_coordinate);
    if (action.coordinate) json["coordinate"] = encode(*action.coordinate);
    if (!action.path.empty()) json["path"] = Json::array();
    for (const auto& point : action.path) json["path"].push_back(encode(point));
    if (action.scroll_direction) json["scroll_direction"] = name_of(kDirections, *action.scroll_direction);
    if (action.scroll_amount) json["scroll_amount"] = *action.scroll_amount;
    if (action.text) json["text"] = *action.text;
    if (action.duration) json["duration"] = std::chrono::duration<double>(*action.duration).count();
    if (action.repeat) json["repeat"] = *action.repeat;
    if (action.method) json["method"] = name_of(kMethods, *action.method);
    return json;
}

Json encode(const Coordinates& coordinates) {
    if (!coordinates.size) return {{"scale", coordinates.scale}};
    return {{"width", coordinates.size->width}, {"height", coordinates.size->height}};
}

}  // namespace

std::string_view action_name(ActionKind kind) {
    for (const auto& rule : kRules)
        if (rule.kind == kind) return rule.name;
    return "";
}

std::optional<ActionKind> action_from_name(std::string_view name) {
    const auto* rule = find_rule(name);
    return rule ? std::optional{rule->kind} : std::nullopt;
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
    Json json{{"actions", std::move(actions)}};
    if (request.screenshot != WithScreenshot::None)
        json["screenshot"] = name_of(kScreenshots, request.screenshot);
    if (request.image != PictureOptions{}) json["image"] = encode(request.image);
    if (request.coordinates) json["coordinates"] = encode(*request.coordinates);
    return write_json(json);
}

template <>
Result<ActionsRequest> parse<ActionsRequest>(std::string_view text) {
    return read_request<ActionsRequest>(text, [](ObjectReader& in) {
        ActionsRequest request;
        if (in.may_have("action")) {
            request.actions.push_back(read_action(in));
        } else if (in.may_have("actions")) {
            in.list("actions", {1, kMostActions}, [&](const Json& item, std::string path) {
                ObjectReader action{item, std::move(path), in.problem()};
                request.actions.push_back(read_action(action));
                action.finish();
            });
        } else {
            in.problem().note_missing("action", "send one action, or a list of them as \"actions\"");
        }
        read_options(in, request);
        return request;
    });
}

}  // namespace dormouse::schema

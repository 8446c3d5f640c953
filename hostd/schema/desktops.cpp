// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/desktops.h"

#include <climits>

#include "hostd/base/id.h"
#include "hostd/schema/desktop_json.h"
#include "hostd/schema/reader.h"
#include "hostd/schema/time.h"

namespace dormouse::schema {

namespace {

constexpr Range kAnyInt{INT_MIN, INT_MAX};

Json encode(const std::optional<Exit>& exit) {
    if (!exit) return nullptr;
    return {{"status", exit->status}, {"stderr", exit->last_output}};
}

Json encode(const Labels& labels) {
    auto json = Json::object();
    for (const auto& [key, value] : labels) json[key] = value;
    return json;
}

}  // namespace

Json encode(const Desktop& desktop) {
    Json json;
    json["id"] = desktop.id;
    json["name"] = desktop.name;
    json["template"] = desktop.image;
    json["labels"] = encode(desktop.labels);
    json["state"] = desktop.state;
    json["reason"] = desktop.reason ? Json(*desktop.reason) : Json();
    json["ready"] = desktop.ready;
    json["created_at"] = format_time(desktop.created_at);
    json["updated_at"] = format_time(desktop.updated_at);
    json["started_at"] = desktop.started_at ? Json(format_time(*desktop.started_at)) : Json();
    json["screen"] = {{"width", desktop.screen.width}, {"height", desktop.screen.height}};
    json["memory_mib"] = desktop.memory_mib;
    json["cpus"] = desktop.cpus;
    json["accelerator"] = desktop.accelerator;
    json["exit"] = encode(desktop.exit);
    json["network"] = encode(desktop.network);
    return json;
}

namespace {

// The labels of an answer; those that are none are passed over.
Labels decode_labels(ObjectReader& in) {
    Labels labels;
    const auto* json = in.take_unless_null("labels");
    if (!json || !json->is_object()) return labels;
    for (const auto& [key, value] : json->items())
        if (value.is_string()) labels.emplace(key, value.get<std::string>());
    return labels;
}

Exit decode_exit(ObjectReader& in) {
    Exit exit;
    exit.status = in.text("status");
    in.list("stderr", {0, INT_MAX}, [&](const Json& item, std::string path) {
        if (item.is_string()) return exit.last_output.push_back(item.get<std::string>());
        in.problem().note(std::move(path), "must be a string");
    });
    return exit;
}

}  // namespace

Desktop decode_desktop(ObjectReader& in) {
    Desktop desktop;
    desktop.id = in.text("id");
    desktop.name = in.text("name");
    desktop.image = in.text("template");
    desktop.labels = decode_labels(in);
    desktop.state = in.text("state");
    desktop.reason = in.optional_text("reason");
    desktop.ready = in.boolean("ready");
    desktop.created_at = in.time("created_at");
    desktop.updated_at = in.optional_time("updated_at").value_or(desktop.created_at);
    desktop.started_at = in.optional_time("started_at");
    in.object("screen", [&](ObjectReader& screen) {
        desktop.screen.width = static_cast<int>(screen.whole("width", kAnyInt));
        desktop.screen.height = static_cast<int>(screen.whole("height", kAnyInt));
    });
    desktop.memory_mib = static_cast<int>(in.whole("memory_mib", kAnyInt));
    desktop.cpus = static_cast<int>(in.whole("cpus", kAnyInt));
    desktop.accelerator = in.text("accelerator");
    in.optional_object("exit", [&](ObjectReader& exit) { desktop.exit = decode_exit(exit); });
    in.optional_object("network", [&](ObjectReader& network) { desktop.network = decode_network(network); });
    return desktop;
}

namespace {

std::string identifier(ObjectReader& in, std::string_view field, std::string_view what) {
    auto text = in.text(field);
    if (in.problem().any() || is_identifier(text)) return text;
    const auto bad = bad_identifier(what, shown(text));
    in.note(field, bad.value().message, bad.value().hint);
    return text;
}

// Those of a request: key, value; `may_remove` lets null through.
std::map<std::string, std::optional<std::string>, std::less<>> labels_of_request(ObjectReader& in,
                                                                                 bool may_remove) {
    std::map<std::string, std::optional<std::string>, std::less<>> labels;
    const auto* json = in.take("labels");
    if (!json) return labels;
    if (!json->is_object()) {
        in.note("labels", "must be an object of texts");
        return labels;
    }
    for (const auto& [key, value] : json->items()) {
        const auto path = fmt::format("labels.{}", shown(key));
        if (const auto good = check_label_key(key); !good)
            in.problem().note(path, good.error().message, good.error().hint);
        if (value.is_null() && may_remove) {
            labels.emplace(key, std::nullopt);
        } else if (!value.is_string()) {
            in.problem().note(path, may_remove ? "must be a text, or null to remove it" : "must be a text");
        } else {
            labels.emplace(key, value.get<std::string>());
            if (const auto good = check_label_value(*labels[key]); !good)
                in.problem().note(path, good.error().message, good.error().hint);
        }
    }
    if (labels.size() > kMostLabels)
        in.note("labels",
                fmt::format("has {} entries; a desktop has at most {}", labels.size(), kMostLabels));
    return labels;
}

}  // namespace

std::string to_json(const Desktop& desktop) {
    return write_json(encode(desktop));
}

std::string to_json(const DesktopList& list) {
    auto desktops = Json::array();
    for (const auto& desktop : list.desktops) desktops.push_back(encode(desktop));
    return write_json({{"desktops", std::move(desktops)},
                       {"next_cursor", list.next_cursor ? Json(*list.next_cursor) : Json()}});
}

std::string to_json(const CreateDesktopRequest& request) {
    Json json;
    if (request.name) json["name"] = *request.name;
    json["template"] = request.image;
    if (request.network) json["network"] = encode(*request.network);
    if (!request.labels.empty()) json["labels"] = encode(request.labels);
    return write_json(json);
}

std::string to_json(const UpdateDesktopRequest& request) {
    auto json = Json::object();
    if (request.name) json["name"] = *request.name;
    for (const auto& [key, value] : request.labels) json["labels"][key] = value ? Json(*value) : Json();
    if (request.network) json["network"] = encode(*request.network);
    return write_json(json);
}

template <>
Result<Desktop> parse<Desktop>(std::string_view text) {
    return read_answer<Desktop>(text, decode_desktop);
}

template <>
Result<DesktopList> parse<DesktopList>(std::string_view text) {
    return read_answer<DesktopList>(text, [](ObjectReader& in) {
        DesktopList list;
        in.list("desktops", {0, INT_MAX}, [&](const Json& item, std::string path) {
            ObjectReader desktop{item, std::move(path), in.problem()};
            list.desktops.push_back(decode_desktop(desktop));
        });
        list.next_cursor = in.optional_text("next_cursor");
        return list;
    });
}

template <>
Result<CreateDesktopRequest> parse<CreateDesktopRequest>(std::string_view text) {
    if (text.empty()) return CreateDesktopRequest{};
    return read_request<CreateDesktopRequest>(text, [](ObjectReader& in) {
        CreateDesktopRequest request;
        if (in.may_have("name")) request.name = identifier(in, "name", DesktopNameTag::what);
        if (in.may_have("template")) request.image = identifier(in, "template", TemplateNameTag::what);
        if (in.may_have("network"))
            in.object("network", [&](ObjectReader& network) { request.network = decode_network(network); });
        for (auto& [key, value] : labels_of_request(in, false)) request.labels.emplace(key, *value);
        return request;
    });
}

template <>
Result<UpdateDesktopRequest> parse<UpdateDesktopRequest>(std::string_view text) {
    return read_request<UpdateDesktopRequest>(text, [](ObjectReader& in) {
        UpdateDesktopRequest request;
        if (in.may_have("name")) request.name = identifier(in, "name", DesktopNameTag::what);
        request.labels = labels_of_request(in, true);
        if (in.may_have("network"))
            in.object("network", [&](ObjectReader& network) { request.network = decode_network(network); });
        return request;
    });
}

template <>
Result<EmptyRequest> parse<EmptyRequest>(std::string_view text) {
    if (text.empty()) return EmptyRequest{};
    return read_request<EmptyRequest>(text, [](ObjectReader&) { return EmptyRequest{}; });
}

}  // namespace dormouse::schema

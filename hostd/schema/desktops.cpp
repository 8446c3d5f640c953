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

}  // namespace

Json encode(const Desktop& desktop) {
    Json json;
    json["id"] = desktop.id;
    json["name"] = desktop.name;
    json["template"] = desktop.image;
    json["state"] = desktop.state;
    json["reason"] = desktop.reason ? Json(*desktop.reason) : Json();
    json["ready"] = desktop.ready;
    json["created_at"] = format_time(desktop.created_at);
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
    desktop.state = in.text("state");
    desktop.reason = in.optional_text("reason");
    desktop.ready = in.boolean("ready");
    desktop.created_at = in.time("created_at");
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

}  // namespace

std::string to_json(const Desktop& desktop) {
    return write_json(encode(desktop));
}

std::string to_json(const DesktopList& list) {
    auto desktops = Json::array();
    for (const auto& desktop : list.desktops) desktops.push_back(encode(desktop));
    return write_json({{"desktops", std::move(desktops)}});
}

std::string to_json(const CreateDesktopRequest& request) {
    Json json;
    if (request.name) json["name"] = *request.name;
    json["template"] = request.image;
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
        return request;
    });
}

template <>
Result<EmptyRequest> parse<EmptyRequest>(std::string_view text) {
    if (text.empty()) return EmptyRequest{};
    return read_request<EmptyRequest>(text, [](ObjectReader&) { return EmptyRequest{}; });
}

}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/templates.h"

#include <climits>

#include "hostd/base/id.h"
#include "hostd/schema/reader.h"
#include "hostd/schema/time.h"

namespace dormouse::schema {

namespace {

constexpr Range kAnyInt{INT_MIN, INT_MAX};
constexpr std::size_t kLongestRecipe = 1 << 20;

Json encode(const Template& image) {
    const auto maybe = [](const auto& value) { return value ? Json(*value) : Json(); };
    Json json;
    json["name"] = image.name;
    json["hash"] = image.hash;
    json["description"] = image.description;
    json["from"] = maybe(image.parent);
    json["created_at"] = image.created_at ? Json(format_time(*image.created_at)) : Json();
    json["screen"] = {{"width", image.screen.width}, {"height", image.screen.height}};
    json["memory_mib"] = image.memory_mib;
    json["cpus"] = image.cpus;
    json["user"] = image.user;
    json["locale"] = image.locale;
    json["timezone"] = image.timezone;
    json["keyboard"] = image.keyboard;
    json["qemu"] = image.qemu;
    json["accelerator"] = image.accelerator;
    json["size_bytes"] = image.size_bytes;
    json["built_in"] = image.built_in;
    json["stale"] = image.stale_reason.has_value();
    json["stale_reason"] = maybe(image.stale_reason);
    json["desktops"] = image.desktops;
    json["recipe"] = maybe(image.recipe);
    return json;
}

Template decode_template(ObjectReader& in) {
    Template image;
    image.name = in.text("name");
    image.hash = in.text("hash");
    image.description = in.text("description");
    image.parent = in.optional_text("from");
    image.created_at = in.optional_time("created_at");
    in.object("screen", [&](ObjectReader& screen) {
        image.screen.width = static_cast<int>(screen.whole("width", kAnyInt));
        image.screen.height = static_cast<int>(screen.whole("height", kAnyInt));
    });
    image.memory_mib = static_cast<int>(in.whole("memory_mib", kAnyInt));
    image.cpus = static_cast<int>(in.whole("cpus", kAnyInt));
    image.user = in.text("user");
    image.locale = in.text("locale");
    image.timezone = in.text("timezone");
    image.keyboard = in.text("keyboard");
    image.qemu = in.text("qemu");
    image.accelerator = in.text("accelerator");
    image.size_bytes = static_cast<std::uint64_t>(in.whole("size_bytes", {0, INT64_MAX}));
    image.built_in = in.boolean("built_in");
    if (in.boolean("stale")) image.stale_reason = in.optional_text("stale_reason").value_or("");
    image.desktops = static_cast<int>(in.whole("desktops", kAnyInt));
    if (in.take_unless_null("recipe")) image.recipe = in.text("recipe", {.most_bytes = kLongestRecipe});
    return image;
}

}  // namespace

std::string to_json(const Template& image) {
    return write_json(encode(image));
}

std::string to_json(const TemplateList& list) {
    auto templates = Json::array();
    for (const auto& image : list.templates) templates.push_back(encode(image));
    return write_json({{"templates", std::move(templates)}});
}

std::string to_json(const BuildTemplateRequest& request) {
    Json json{{"recipe", request.recipe}};
    if (request.name) json["name"] = *request.name;
    return write_json(json);
}

template <>
Result<Template> parse<Template>(std::string_view text) {
    return read_answer<Template>(text, decode_template);
}

template <>
Result<TemplateList> parse<TemplateList>(std::string_view text) {
    return read_answer<TemplateList>(text, [](ObjectReader& in) {
        TemplateList list;
        in.list("templates", {0, INT_MAX}, [&](const Json& item, std::string path) {
            ObjectReader image{item, std::move(path), in.problem()};
            list.templates.push_back(decode_template(image));
        });
        return list;
    });
}

template <>
Result<BuildTemplateRequest> parse<BuildTemplateRequest>(std::string_view text) {
    return read_request<BuildTemplateRequest>(text, [](ObjectReader& in) {
        BuildTemplateRequest request;
        request.recipe = in.text("recipe", {.most_bytes = kLongestRecipe, .may_be_empty = false},
                                 "the text of a recipe; docs/templates.md explains it");
        if (in.may_have("name")) request.name = in.text("name");
        return request;
    });
}

}  // namespace dormouse::schema

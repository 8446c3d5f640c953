// SPDX-License-Identifier: Apache-2.0
// What is answered to a request to act.
#include <climits>

#include "hostd/schema/actions.h"
#include "hostd/schema/base64.h"
#include "hostd/schema/error_json.h"
#include "hostd/schema/reader.h"

namespace dormouse::schema {

namespace {

// A picture is half a megabyte, and the core thread writes it: base64 needs no
// escapes, so it does not go through the JSON writer, which looks for them.
void append(std::string& out, const Image& image) {
    out += fmt::format(R"({{"media_type":{},"data":")", write_json(image.media_type));
    out += encode_base64(image.data);
    out += fmt::format(R"(","width":{},"height":{})", image.width, image.height);
    if (image.screen_width > 0)
        out +=
            fmt::format(R"(,"screen_width":{},"screen_height":{})", image.screen_width, image.screen_height);
    out += "}";
}

void append(std::string& out, const ActionResult& result) {
    Json json{{"action", result.action}, {"ok", result.ok}, {"took_ms", result.took.count()}};
    if (result.position) json.update({{"x", result.position->x}, {"y", result.position->y}});
    out += write_json(json);
    if (!result.image) return;
    out.pop_back();  // the closing brace
    out += R"(,"image":)";
    append(out, *result.image);
    out += "}";
}

Image decode_image(ObjectReader& in) {
    Image image;
    image.media_type = in.text("media_type");
    auto bytes = decode_base64(in.text("data"));
    if (!bytes) in.note("data", bytes.error().message);
    image.data = std::move(bytes).value_or("");
    image.width = static_cast<int>(in.whole("width", {0, INT_MAX}));
    image.height = static_cast<int>(in.whole("height", {0, INT_MAX}));
    image.screen_width = static_cast<int>(in.optional_whole("screen_width", {0, INT_MAX}).value_or(0));
    image.screen_height = static_cast<int>(in.optional_whole("screen_height", {0, INT_MAX}).value_or(0));
    return image;
}

ActionResult decode_result(ObjectReader& in) {
    constexpr Range kAny{INT_MIN, INT_MAX};
    ActionResult result;
    result.action = in.text("action");
    result.ok = in.boolean("ok");
    result.took = std::chrono::milliseconds{in.whole("took_ms", {0, INT64_MAX / 1'000'000})};
    in.optional_object("image", [&](ObjectReader& image) { result.image = decode_image(image); });
    const auto x = in.optional_whole("x", kAny);
    const auto y = in.optional_whole("y", kAny);
    if (x && y) result.position = Point{static_cast<int>(*x), static_cast<int>(*y)};
    return result;
}

}  // namespace

std::string to_json(const ActionsResponse& response) {
    std::string out = "{";
    if (response.failure) out += "\"error\":" + write_json(encode(*response.failure)) + ",";
    out += "\"results\":[";
    for (std::size_t i = 0; i < response.results.size(); ++i) {
        if (i > 0) out += ",";
        append(out, response.results[i]);
    }
    out += "]";
    if (response.screenshot) {
        out += R"(,"screenshot":)";
        append(out, *response.screenshot);
    }
    if (response.changed) {
        auto regions = Json::array();
        for (const auto& region : *response.changed) regions.push_back(encode(region));
        out += R"(,"changed":)" + write_json(regions);
    }
    if (const auto& settling = response.settling)
        out += R"(,"settled":)" +
               write_json({{"settled", settling->settled}, {"took_ms", settling->took.count()}});
    return out + "}";
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
        in.optional_object("screenshot",
                           [&](ObjectReader& image) { response.screenshot = decode_image(image); });
        if (in.has("changed")) {
            response.changed.emplace();
            in.list("changed", {0, INT_MAX}, [&](const Json& item, std::string path) {
                ObjectReader region{item, std::move(path), in.problem()};
                response.changed->push_back(read_region(region));
            });
        }
        in.optional_object("settled", [&](ObjectReader& settled) {
            response.settling = Settling{settled.boolean("settled"),
                                         std::chrono::milliseconds{settled.whole("took_ms", {0, INT_MAX})}};
        });
        return response;
    });
}

}  // namespace dormouse::schema

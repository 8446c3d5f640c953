// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/picture.h"

#include <array>
#include <utility>

#include "hostd/schema/reader.h"

namespace dormouse::schema {

namespace {

constexpr std::array<std::pair<PictureFormat, std::string_view>, 3> kFormats{
    {{PictureFormat::Png, "png"}, {PictureFormat::Jpeg, "jpeg"}, {PictureFormat::Webp, "webp"}}};

int optional_size(ObjectReader& in, std::string_view field) {
    return static_cast<int>(in.optional_whole(field, {1, kLargestPicture}).value_or(0));
}

}  // namespace

std::string_view format_name(PictureFormat format) {
    for (const auto& [value, name] : kFormats)
        if (value == format) return name;
    return "png";
}

std::optional<PictureFormat> format_from_name(std::string_view name) {
    for (const auto& [value, known] : kFormats)
        if (known == name) return value;
    return std::nullopt;
}

Result<> check(const PictureOptions& options) {
    if (options.format == PictureFormat::Png && options.quality != 0)
        return fail(Errc::InvalidArgument, "quality: PNG has none, it loses nothing",
                    "leave it out, or ask for the format jpeg or webp");
    return {};
}

Region read_region(ObjectReader& in) {
    Region region;
    region.x = static_cast<int>(in.whole("x", {0, kLargestPicture}));
    region.y = static_cast<int>(in.whole("y", {0, kLargestPicture}));
    region.width = static_cast<int>(in.whole("width", {1, kLargestPicture}));
    region.height = static_cast<int>(in.whole("height", {1, kLargestPicture}));
    return region;
}

PictureOptions read_picture_options(ObjectReader& in) {
    PictureOptions options;
    if (in.may_have("format"))
        options.format =
            format_from_name(in.word("format", {"png", "jpeg", "webp"})).value_or(PictureFormat::Png);
    in.optional_object("region", [&](ObjectReader& region) { options.region = read_region(region); });
    if (in.may_have("scale"))
        options.scale = in.number("scale", kSmallestScale, 1, "a part of the whole size, for example 0.5");
    options.max_width = optional_size(in, "max_width");
    options.max_height = optional_size(in, "max_height");
    options.quality = static_cast<int>(in.optional_whole("quality", {1, 100}).value_or(0));
    options.max_bytes =
        static_cast<std::size_t>(in.optional_whole("max_bytes", {static_cast<std::int64_t>(kFewestBytes),
                                                                 static_cast<std::int64_t>(kMostBytes)})
                                     .value_or(0));
    if (in.may_have("cursor")) options.cursor = in.boolean("cursor");
    if (const auto verdict = check(options); !verdict)
        in.note("quality", verdict.error().message.substr(std::string_view{"quality: "}.size()),
                verdict.error().hint);
    return options;
}

Json encode(const Region& region) {
    return {{"x", region.x}, {"y", region.y}, {"width", region.width}, {"height", region.height}};
}

Json encode(const PictureOptions& options) {
    auto json = Json::object();
    if (options.format != PictureFormat::Png) json["format"] = format_name(options.format);
    if (options.region) json["region"] = encode(*options.region);
    if (options.scale != 1) json["scale"] = options.scale;
    if (options.max_width != 0) json["max_width"] = options.max_width;
    if (options.max_height != 0) json["max_height"] = options.max_height;
    if (options.quality != 0) json["quality"] = options.quality;
    if (options.max_bytes != 0) json["max_bytes"] = options.max_bytes;
    if (options.cursor) json["cursor"] = true;
    return json;
}

}  // namespace dormouse::schema

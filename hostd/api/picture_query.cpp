// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/picture_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::api {

namespace {

constexpr std::string_view kRegionForm = "x,y,width,height in pixels of the screen, for example 0,0,640,400";

// Four whole numbers with commas between them and nothing else.
std::optional<std::array<int, 4>> four_numbers(std::string_view text) {
    std::array<int, 4> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto part = text.substr(0, i + 1 < numbers.size() ? text.find(',') : text.size());
        const auto* const end = part.data() + part.size();
        const auto [stop, error] = std::from_chars(part.data(), end, numbers[i]);
        if (part.empty() || error != std::errc{} || stop != end) return std::nullopt;
        text.remove_prefix(std::min(part.size() + 1, text.size()));
    }
    return numbers;
}

std::optional<schema::Region> read_region(QueryReader& query) {
    const auto text = query.text("region");
    if (!text) return std::nullopt;
    const auto numbers = four_numbers(*text);
    if (!numbers) {
        query.note("region", "must be four whole numbers", std::string{kRegionForm});
        return std::nullopt;
    }
    const auto [x, y, width, height] = *numbers;
    const auto within = [](int value, int least) {
        return value >= least && value <= schema::kLargestPicture;
    };
    if (!within(x, 0) || !within(y, 0) || !within(width, 1) || !within(height, 1)) {
        query.note(
            "region",
            fmt::format("x and y must be 0 to {0}, width and height 1 to {0}", schema::kLargestPicture),
            std::string{kRegionForm});
        return std::nullopt;
    }
    return schema::Region{x, y, width, height};
}

}  // namespace

schema::PictureOptions read_picture_query(QueryReader& query) {
    schema::PictureOptions options;
    if (const auto name = query.word("format", {"png", "jpeg", "webp"}))
        options.format = schema::format_from_name(*name).value_or(schema::PictureFormat::Png);
    options.region = read_region(query);
    options.scale = query.number("scale", schema::kSmallestScale, 1).value_or(1);
    const auto side = [&](std::string_view name) {
        return static_cast<int>(query.whole(name, 1, schema::kLargestPicture).value_or(0));
    };
    options.max_width = side("max_width");
    options.max_height = side("max_height");
    options.quality = static_cast<int>(query.whole("quality", 1, 100).value_or(0));
    options.max_bytes =
        static_cast<std::size_t>(query
                                     .whole("max_bytes", static_cast<std::int64_t>(schema::kFewestBytes),
                                            static_cast<std::int64_t>(schema::kMostBytes))
                                     .value_or(0));
    options.cursor = query.flag("cursor").value_or(false);
    if (const auto verdict = schema::check(options); !verdict)
        query.note("quality", verdict.error().message.substr(std::string_view{"quality: "}.size()),
                   verdict.error().hint);
    return options;
}

}  // namespace dormouse::api

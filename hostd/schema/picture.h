// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "hostd/base/result.h"
#include "hostd/schema/json.h"

namespace dormouse::schema {

class ObjectReader;

constexpr int kLargestPicture = 8192;  // pixels, of either side
constexpr double kSmallestScale = 0.05;
constexpr std::size_t kFewestBytes = 1000;  // a picture of a few pixels fits
constexpr std::size_t kMostBytes = 100'000'000;

enum class PictureFormat { Png, Jpeg, Webp };
std::string_view format_name(PictureFormat format);  // "png"
std::optional<PictureFormat> format_from_name(std::string_view name);

struct Region {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
    friend bool operator==(const Region&, const Region&) = default;
};

// How a picture is wanted: "image" in a request, the query of GET .../screenshot.
// All may be left out.
struct PictureOptions {
    PictureFormat format = PictureFormat::Png;
    std::optional<Region> region;  // absent: the whole screen
    double scale = 1;              // kSmallestScale to 1
    int max_width = 0;             // 0: no limit
    int max_height = 0;
    int quality = 0;            // 1 to 100, not with Png; 0: the format's default
    std::size_t max_bytes = 0;  // 0: no limit
    bool cursor = false;
    friend bool operator==(const PictureOptions&, const PictureOptions&) = default;
};

// What one field alone does not show: quality together with PNG.
// Errc::InvalidArgument names the field.
Result<> check(const PictureOptions& options);

// Fields of an object: {"format","region":{"x","y","width","height"},"scale",
// "max_width","max_height","quality","max_bytes","cursor"}.
PictureOptions read_picture_options(ObjectReader& in);
Region read_region(ObjectReader& in);
Json encode(const PictureOptions& options);  // without what is as it is when left out
Json encode(const Region& region);

}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
#include "display/still_options.h"

#include <algorithm>
#include <cmath>

#include "display/raw_pixels.h"

namespace dormouse::display {

namespace {

Result<> check_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value >= low && value <= high) return {};
    return fail(Errc::InvalidArgument, fmt::format("{} must be {} to {}, not {}", what, low, high, value));
}

Result<> check_numbers(const StillOptions& options) {
    // Also not a number, which no comparison lets through.
    if (!(options.scale >= kLeastScale && options.scale <= 1))
        return fail(Errc::InvalidArgument,
                    fmt::format("scale must be {} to 1, not {}", kLeastScale, options.scale));
    DORMOUSE_TRY(check_range("max_width", options.max_width, 0, kMaxSide));
    DORMOUSE_TRY(check_range("max_height", options.max_height, 0, kMaxSide));
    DORMOUSE_TRY(check_range("quality", options.quality, 0, 100));
    if (options.quality != 0 && options.format == ImageFormat::Png)
        return fail(Errc::InvalidArgument, "quality is for jpeg and webp: a png loses nothing",
                    "leave quality away, or ask for format=jpeg or format=webp");
    if (options.exact == Size{}) return {};
    DORMOUSE_TRY(check_range("width", options.exact.width, 1, kMaxSide));
    DORMOUSE_TRY(check_range("height", options.exact.height, 1, kMaxSide));
    if (options.scale != 1 || options.max_width != 0 || options.max_height != 0)
        return fail(Errc::InvalidArgument,
                    "an exact size goes with neither scale nor max_width nor max_height");
    return {};
}

Result<Rect> check_region(const Rect& region, Size screen) {
    // 64 bits: the numbers come from outside.
    const auto right = std::int64_t{region.x} + region.width;
    const auto bottom = std::int64_t{region.y} + region.height;
    if (region.x >= 0 && region.y >= 0 && region.width >= 1 && region.height >= 1 && right <= screen.width &&
        bottom <= screen.height)
        return region;
    return fail(Errc::InvalidArgument,
                fmt::format("region {},{},{},{} is not within the screen of {}x{} pixels", region.x, region.y,
                            region.width, region.height, screen.width, screen.height),
                fmt::format("x,y,width,height with x from 0, y from 0, width from 1, height from 1, "
                            "x+width up to {} and y+height up to {}",
                            screen.width, screen.height));
}

int scaled(int side, double factor) {
    return std::clamp(static_cast<int>(std::lround(side * factor)), 1, kMaxSide);
}

}  // namespace

std::string_view format_name(ImageFormat format) {
    switch (format) {
        case ImageFormat::Png:
            return "png";
        case ImageFormat::Jpeg:
            return "jpeg";
        case ImageFormat::Webp:
            return "webp";
    }
    return {};
}

std::string_view media_type(ImageFormat format) {
    switch (format) {
        case ImageFormat::Png:
            return "image/png";
        case ImageFormat::Jpeg:
            return "image/jpeg";
        case ImageFormat::Webp:
            return "image/webp";
    }
    return {};
}

std::string describe(const StillOptions& options) {
    std::string text{format_name(options.format)};
    if (const auto& region = options.region)
        text += fmt::format("-r{}.{}.{}.{}", region->x, region->y, region->width, region->height);
    if (options.scale != 1) text += fmt::format("-s{}", options.scale);
    if (options.max_width != 0) text += fmt::format("-w{}", options.max_width);
    if (options.max_height != 0) text += fmt::format("-h{}", options.max_height);
    if (options.exact != Size{}) text += fmt::format("-x{}.{}", options.exact.width, options.exact.height);
    if (options.quality != 0) text += fmt::format("-q{}", options.quality);
    if (options.max_bytes != 0) text += fmt::format("-b{}", options.max_bytes);
    return text;
}

Result<StillPlan> plan_still(const StillOptions& options, Size screen) {
    DORMOUSE_TRY(check_numbers(options));
    StillPlan plan{Rect::whole(screen), {}};
    if (options.region) {
        DORMOUSE_TRY_ASSIGN(plan.region, check_region(*options.region, screen));
    }
    if (options.exact != Size{}) {
        plan.size = options.exact;
        return plan;
    }
    // One factor for both sides, so that what is round stays round.
    double factor = options.scale;
    if (options.max_width != 0) factor = std::min(factor, double(options.max_width) / plan.region.width);
    if (options.max_height != 0) factor = std::min(factor, double(options.max_height) / plan.region.height);
    plan.size = {scaled(plan.region.width, factor), scaled(plan.region.height, factor)};
    return plan;
}

}  // namespace dormouse::display

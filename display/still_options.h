// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "display/image.h"
#include "hostd/base/result.h"

namespace dormouse::display {

enum class ImageFormat { Png, Jpeg, Webp };

std::string_view format_name(ImageFormat format);  // "png"
std::string_view media_type(ImageFormat format);   // "image/png"

constexpr double kLeastScale = 0.05;
constexpr int kJpegQuality = 80;  // when none is asked for: text stays readable, a third of the PNG's size
constexpr int kWebpQuality = 80;

// How a picture of the screen is wanted. The defaults are all of it as it is, lossless.
struct StillOptions {
    ImageFormat format = ImageFormat::Png;
    std::optional<Rect> region;  // pixels of the screen; must lie within it
    double scale = 1;            // kLeastScale to 1, of the region
    int max_width = 0;           // pixels of the picture, after `scale`; the proportions stay; 0: no limit
    int max_height = 0;
    Size exact;                 // exactly so large, smaller or larger; then scale and limits must be unset
    int quality = 0;            // 1 to 100 for Jpeg and Webp, which lose something; 0: the format's default
    std::size_t max_bytes = 0;  // of the file: quality, then size, go down until it fits; 0: no limit
    bool cursor = false;        // with the pointer drawn in, where the guest has told its shape

    friend bool operator==(const StillOptions&, const StillOptions&) = default;
};

// The options in a few letters, digits, dots and dashes, different for different
// ones: "png", "jpeg-r0.0.640.400-s0.5-q60". The cursor is left to the caller.
std::string describe(const StillOptions& options);

// What of the screen becomes how large a picture.
struct StillPlan {
    Rect region;  // pixels of the screen
    Size size;    // of the picture
    friend bool operator==(const StillPlan&, const StillPlan&) = default;
};

// Errc::InvalidArgument with the range for a number out of it; so for a region
// that is not within the screen.
Result<StillPlan> plan_still(const StillOptions& options, Size screen);

}  // namespace dormouse::display

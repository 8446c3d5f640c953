// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::desktop {

enum class PictureFormat { Png, Jpeg, Webp };

struct Region {
    int x = 0;  // pixels of the screen
    int y = 0;
    int width = 0;
    int height = 0;
    friend bool operator==(const Region&, const Region&) = default;
};

// The defaults are the whole screen as it is. What is asked for here has been
// checked for being possible in itself, not against the screen.
struct PictureOptions {
    PictureFormat format = PictureFormat::Png;
    std::optional<Region> region;  // of the screen; else all of it
    double scale = 1;              // 0.05 to 1
    int max_width = 0;             // pixels, the proportions stay; 0 is no limit
    int max_height = 0;
    int width = 0;  // exactly this size, also larger than the region is (zoom); 0: see above
    int height = 0;
    int quality = 0;            // 1 to 100 of Jpeg and Webp; 0 is the format's default
    std::size_t max_bytes = 0;  // quality, then size, go down until it fits; 0 is no limit
    bool cursor = false;        // with the pointer drawn in
    friend bool operator==(const PictureOptions&, const PictureOptions&) = default;
};

struct Picture {
    std::shared_ptr<const std::string> bytes;
    int width = 0;  // of the picture
    int height = 0;
    std::uint64_t generation = 0;  // moves when a pixel changes; 0 is never one
    std::string_view media_type = "image/png";
    int screen_width = 0;
    int screen_height = 0;
    Region region{};          // of the screen: what the picture shows
    int quality = 0;          // with which it was made; 0: nothing was lost
    std::string_view cursor;  // "drawn", "outside", "hidden" or "unknown"; empty where it was not asked for
    std::string tag;          // stands for these very bytes; may be empty
};

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// Reads pictures with other code than what made them, and says how far two are apart.
#pragma once

#include <string>

#include "display/image.h"

namespace dormouse::display::testing {

// Each adds a failure and gives an empty picture when the file is no such.
Image decode_png(const std::string& file);   // libpng
Image decode_jpeg(const std::string& file);  // libjpeg
Image decode_webp(const std::string& file);  // libwebp's decoder

// Root of the mean square difference of the channels.
double distance(const Image& a, const Image& b);

Image noise(Size size, unsigned seed);

// What pictures of screens have: flat areas, thin lines, smooth shades.
Image screen_like(Size size);

}  // namespace dormouse::display::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "display/image.h"
#include "hostd/base/result.h"

namespace dormouse::display {

// The picture as a lossy WebP file, quality 1 to 100. Smaller than a JPEG of the
// same looks and slower to make. Any thread; takes tens of milliseconds.
// Errc::InvalidArgument for an empty or too large picture.
Result<std::string> encode_webp(const ImageView& view, int quality);

}  // namespace dormouse::display

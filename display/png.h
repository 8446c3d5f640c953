// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "display/image.h"
#include "hostd/base/result.h"

namespace dormouse::display {

// The picture as a PNG file, 8-bit RGB. Lossless. Any thread; takes milliseconds,
// so not on `core`. Errc::InvalidArgument for an empty or too large picture. A part of a picture is encoded
// by giving `view.part(rect)`.
Result<std::string> encode_png(const ImageView& view);

}  // namespace dormouse::display

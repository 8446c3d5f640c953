// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "display/image.h"
#include "hostd/base/result.h"

namespace dormouse::display {

// The picture as a JPEG file, quality 1 to 100. From 90 on the colours keep the
// full resolution, as thin coloured text needs it. Any thread; takes
// milliseconds. Errc::InvalidArgument for an empty or too large picture.
Result<std::string> encode_jpeg(const ImageView& view, int quality);

}  // namespace dormouse::display

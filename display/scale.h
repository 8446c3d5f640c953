// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "display/image.h"

namespace dormouse::display {

// The picture in another size. Smaller: each pixel is the exact average of the
// area it covers, so that thin lines and small text fade but do not vanish.
// Larger: linear between the pixels. Each side by itself; both pictures must
// have pixels. Any thread.
//
// Our own and not pixman's or libswscale's: pixman (not needed otherwise) takes
// samples and would need a filter made for each ratio, libswscale works in YUV.
Image scale_image(const ImageView& from, Size size);

}  // namespace dormouse::display

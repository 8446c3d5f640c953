// SPDX-License-Identifier: Apache-2.0
// Between what the domain says of pictures and what the screen says.
#pragma once

#include "display/still.h"
#include "hostd/desktop/picture.h"

namespace dormouse::desktop {

display::StillOptions still_options(const PictureOptions& picture);
Picture to_picture(const display::Still& still, bool with_cursor);

}  // namespace dormouse::desktop

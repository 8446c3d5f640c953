// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dormouse::desktop {

// A name for a desktop whose maker gave none: "quiet-otter". Not checked for
// being free.
std::string make_up_name();

}  // namespace dormouse::desktop

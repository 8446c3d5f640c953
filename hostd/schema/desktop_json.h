// SPDX-License-Identifier: Apache-2.0
// The desktop object, for the codecs of this folder that have one inside.
#pragma once

#include "hostd/schema/desktops.h"
#include "hostd/schema/reader.h"

namespace dormouse::schema {

Json encode(const Desktop& desktop);
Desktop decode_desktop(ObjectReader& in);

}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
// Everything that the API says, in one include for those who speak it all.
#pragma once

#include "hostd/schema/actions.h"     // IWYU pragma: export
#include "hostd/schema/audit.h"       // IWYU pragma: export
#include "hostd/schema/desktops.h"    // IWYU pragma: export
#include "hostd/schema/error.h"       // IWYU pragma: export
#include "hostd/schema/events.h"      // IWYU pragma: export
#include "hostd/schema/exec.h"        // IWYU pragma: export
#include "hostd/schema/network.h"     // IWYU pragma: export
#include "hostd/schema/operations.h"  // IWYU pragma: export
#include "hostd/schema/picture.h"     // IWYU pragma: export
#include "hostd/schema/service.h"     // IWYU pragma: export
#include "hostd/schema/templates.h"   // IWYU pragma: export
#include "hostd/schema/tokens.h"      // IWYU pragma: export

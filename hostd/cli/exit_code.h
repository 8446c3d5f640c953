// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hostd/base/result.h"

namespace dormouse::cli {

// What scripts go by; `dormouse --help` lists them.
enum ExitCode : int {
    kOk = 0,
    kFailure = 1,
    kUsage = 2,
    kNotFound = 3,
    kConflict = 4,     // there already, or not possible in this state
    kUnreachable = 5,  // no daemon answers
    kDenied = 6,       // no token, an unknown one, or one that may not do this
};

// Never kUnreachable: the server also says Unavailable, of itself. Context knows
// which it was.
ExitCode exit_code_of(Errc code);

}  // namespace dormouse::cli

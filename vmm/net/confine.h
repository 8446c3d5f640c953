// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hostd/base/result.h"

namespace dormouse::net {

// Takes from this process what a network process does not need, for good: new
// privileges, core files, memory and descriptors beyond bounds, and every system
// call that is not on a short list (no programs, no signals to others, no files
// for writing, no new unix sockets). To be called when all sockets are there.
Result<> confine_this_process();

}  // namespace dormouse::net

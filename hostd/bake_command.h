// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "hostd/base/result.h"
#include "hostd/desktop/host.h"

namespace dormouse {

// What `dormoused bake` was told.
struct BakeCommand {
    std::filesystem::path source;  // the checkout, with assets/ and guest/
    std::filesystem::path recipe;  // empty: the built-in one
    std::filesystem::path agent;   // empty: dormouse-guestd beside this program
};

// Bakes a template and shows how far it is on standard output: one line that is
// overwritten on a terminal, a line a step elsewhere. SIGINT and SIGTERM end it cleanly.
Result<> run_bake(desktop::Host& host, const BakeCommand& command);

}  // namespace dormouse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "hostd/cli/context.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

enum class Goal { Running, Stopped };

// Asks until the desktop is there, showing progress. Running means that it can
// be used: its agent has answered, and it has started since `before` where that
// is given. Stopped also means failed: no machine is left either way. Errors:
// Conflict when it went somewhere else, NotFound when it was deleted, Timeout
// after more than any boot takes.
Result<schema::Desktop> wait_for(Context& context, const std::string& desktop, Goal goal,
                                 std::optional<WallTime> before = std::nullopt);

// What start, stop and restart say in the end.
int report_state(Context& context, const schema::Desktop& desktop, std::string_view command, bool waited);

}  // namespace dormouse::cli

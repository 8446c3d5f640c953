// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hostd/cli/context.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

// Has one action carried out: silent when it was, but for a line to somebody who
// watches, and the API's answer with --json.
Result<int> act(Context& context, const std::string& desktop, schema::Action action);

}  // namespace dormouse::cli

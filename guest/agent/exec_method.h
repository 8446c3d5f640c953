// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "guest/agent/params.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/process.h"

namespace dormouse::agent {

// The method "exec" (guest/protocol/messages.h).
Task<Result<nlohmann::json>> run_exec(EventLoop& loop, Params params);

// What to start for it, as root or as the desktop's user with the environment
// of that user's session. Errc::NotFound when there is no such user.
struct ExecRequest {
    std::vector<std::string> argv;
    bool shell = false;  // argv is one line for the user's shell
    bool as_root = false;
    std::string directory;
    std::map<std::string, std::string> env;
};
Result<CommandLine> exec_command(const ExecRequest& request);

}  // namespace dormouse::agent

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "guest/agent/clipboard.h"
#include "guest/agent/system.h"
#include "guest/agent/x_session.h"
#include "guest/protocol/messages.h"

namespace dormouse::agent {

// What the methods work with. `loop` and `system` must outlive the last task.
struct Services {
    EventLoop& loop;
    System& system;
    std::shared_ptr<XSession> session;
    std::shared_ptr<Clipboard> clipboard;
};
std::shared_ptr<Services> make_services(EventLoop& loop, System& system, const std::string& display);

// Carries out one request; see guest/protocol/messages.h for what there is.
Task<Result<nlohmann::json>> call_method(std::shared_ptr<Services> services, guest::Request request);
std::vector<std::string> method_names();

// Sets the clock when it is off by more than kClockTolerance: {"offset_ms","stepped"}.
nlohmann::json apply_time(System& system, std::int64_t unix_ns);

}  // namespace dormouse::agent

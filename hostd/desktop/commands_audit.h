// SPDX-License-Identifier: Apache-2.0
// What was asked for, by whom, and what came of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/desktop/command_traits.h"

namespace dormouse::desktop {

struct ListAudit {
    static constexpr CommandTraits traits{"audit.list", CommandGroup::Admin};
    std::optional<std::string> about;    // id or name of a desktop; the id of one that is gone
    std::optional<std::string> token;    // id
    std::optional<std::string> command;  // "desktop.act", or "desktop." for all that begin so
    std::optional<std::string> outcome;  // "ok", the code of an error, or "failed" for all errors
    std::optional<WallTime> since;
    std::optional<WallTime> until;
    int limit = 100;  // 1 to 1000
    std::optional<std::string> cursor;
};

// ---- the answers

struct AuditEntry {
    std::int64_t number = 0;
    WallTime at;
    std::string token;  // id; "" when nobody was recognised
    std::optional<std::string> desktop;
    std::string command;
    std::string outcome;
    std::string detail;
    std::chrono::milliseconds took{};
    std::int64_t count = 1;  // looks that repeat within a minute are one entry
    WallTime last_at;
};
struct AuditPage {
    std::vector<AuditEntry> entries;  // newest first
    std::optional<std::string> next_cursor;
};

}  // namespace dormouse::desktop

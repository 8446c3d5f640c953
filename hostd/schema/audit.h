// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/schema/codec.h"

namespace dormouse::schema {

// A command that was carried out or refused.
struct AuditEntry {
    std::uint64_t number = 0;
    WallTime at;
    std::optional<std::string> token;    // id; absent when nobody was recognised
    std::optional<std::string> desktop;  // id
    std::string command;                 // "desktop.create"
    std::string outcome;                 // "ok" or the code of an error
    std::string detail;
    std::chrono::milliseconds took{};  // "took_ms" in JSON
    std::int64_t count = 1;            // how often: looks that repeat are one entry
    WallTime last_at;                  // the last of them
    friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

struct AuditPage {
    std::vector<AuditEntry> entries;  // newest first
    std::optional<std::string> next_cursor;
};

std::string to_json(const AuditPage& page);
std::string to_json(const AuditEntry& entry);

template <>
Result<AuditPage> parse<AuditPage>(std::string_view text);

}  // namespace dormouse::schema

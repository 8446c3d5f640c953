// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "hostd/base/clock.h"
#include "hostd/base/result.h"

namespace dormouse::db {

// One command that was carried out or refused. Strings, not ids: what is named
// may never have existed.
struct AuditRow {
    WallTime at;
    std::string token;                   // id; empty when nobody was recognised
    std::optional<std::string> desktop;  // id
    std::string command;                 // "desktop.create"
    std::string outcome;                 // "ok" or errc_name()
    std::string detail;                  // short; never typed text or secrets
    std::chrono::milliseconds duration{};
    friend bool operator==(const AuditRow&, const AuditRow&) = default;
};

// The audit log: rows are added and read, never changed. On the `store` thread.
class AuditStore {
  public:
    static Result<AuditStore> open(Database& database);

    Result<> append(const AuditRow& row);
    Result<std::vector<AuditRow>> newest(int limit);  // newest first

  private:
    struct Statements {
        Statement append, newest;
    };
    explicit AuditStore(Statements statements) : statements_(std::move(statements)) {}

    Statements statements_;
};

}  // namespace dormouse::db

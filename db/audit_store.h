// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
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
    std::int64_t number = 0;            // given by append(); grows
    std::int64_t count = 1;             // how often; see repeat()
    std::optional<WallTime> last_at{};  // of the last, where there were several
    friend bool operator==(const AuditRow&, const AuditRow&) = default;
};

// What rows must have; what is absent does not matter.
struct AuditFilter {
    std::optional<std::string> token;
    std::optional<std::string> desktop;
    std::optional<std::string> command;  // "desktop.act", or "desktop." for all that begin so
    std::optional<std::string> outcome;  // "ok", a code, or "failed" for all but "ok"
    std::optional<WallTime> since;       // from then on
    std::optional<WallTime> until;       // before then
    std::optional<std::int64_t> before;  // number of the row behind which to go on
};

// The audit log. What happened is never changed, only counted up; old rows go.
// On the `store` thread.
class AuditStore {
  public:
    static Result<AuditStore> open(Database& database);

    Result<std::int64_t> append(const AuditRow& row);  // the row's number

    // The same happened `more` times again, the last time at `last`. A row that is
    // gone is fine.
    Result<> repeat(std::int64_t number, std::int64_t more, WallTime last);

    Result<std::vector<AuditRow>> newest(int limit);  // newest first
    Result<std::vector<AuditRow>> query(const AuditFilter& filter, int limit);

    // Removes rows from before `oldest` and all but the newest `most`, at most
    // `at_once`; gives how many went.
    Result<int> prune(WallTime oldest, std::int64_t most, int at_once);

  private:
    struct Statements {
        Statement append, repeat, prune;
    };
    AuditStore(Database& database, Statements statements)
        : database_(&database), statements_(std::move(statements)) {}

    Database* database_;
    Statements statements_;
};

}  // namespace dormouse::db

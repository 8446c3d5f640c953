// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "hostd/base/clock.h"
#include "hostd/base/result.h"

namespace dormouse::db {

// An operation as it is remembered: enough to tell what became of it.
struct OperationRow {
    std::string id;
    std::string kind;
    std::string token;
    std::optional<std::string> desktop;  // id
    std::optional<std::string> image;    // name of the template
    std::string state;
    std::string step;
    std::optional<std::string> error_code;  // errc_name(); the three are there together
    std::optional<std::string> error;
    std::optional<std::string> hint;
    WallTime created_at;
    std::optional<WallTime> finished_at;
    friend bool operator==(const OperationRow&, const OperationRow&) = default;
};

// On the `store` thread; each call is one transaction. The database must outlive it.
class OperationStore {
  public:
    static Result<OperationStore> open(Database& database);

    Result<> put(const OperationRow& row);     // new, or in place of the one with its id
    Result<std::vector<OperationRow>> list();  // oldest first
    // Forgets those that ended before then.
    Result<> remove_old(WallTime finished_before);

  private:
    struct Statements {
        Statement put, list, remove_old;
    };
    explicit OperationStore(Statements statements) : statements_(std::move(statements)) {}

    Statements statements_;
};

}  // namespace dormouse::db

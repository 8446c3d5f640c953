// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"
#include "hostd/base/clock.h"
#include "hostd/base/id.h"
#include "hostd/base/result.h"

namespace dormouse::db {

// One destination of a desktop and what went on with it. Times to the millisecond.
struct DestinationRow {
    std::string name;     // "" when the desktop used the address
    std::string address;  // the last one; "" when a name was refused
    int port = 0;
    std::string protocol;  // "tcp", "udp", "icmp" or "dns"
    std::string verdict;   // "allowed" or "refused"
    std::string reason;
    WallTime first_at;
    WallTime last_at;
    std::int64_t connections = 0;
    std::int64_t bytes_sent = 0;
    std::int64_t bytes_received = 0;
    friend bool operator==(const DestinationRow&, const DestinationRow&) = default;
};

// What a network process tells: what came up since its last report.
struct DestinationReport {
    std::string reporter;
    std::int64_t sequence = 0;
    std::vector<DestinationRow> rows;
};

// The destinations of all desktops. On the `store` thread; each call is one
// transaction. The database must outlive it.
class DestinationStore {
  public:
    // Rows for each desktop; of more, those not seen for longest go. A desktop
    // could fill the disk otherwise.
    static constexpr int kMostRows = 4096;

    static Result<DestinationStore> open(Database& database);

    // Adds a report up; one that was added already changes nothing.
    Result<> add(const DesktopId& desktop, const DestinationReport& report);

    Result<std::vector<DestinationRow>> list(const DesktopId& desktop);  // last seen first
    Result<> remove(const DesktopId& desktop);                           // none is fine

  private:
    struct Statements {
        Statement last, mark, add, trim, list, remove, remove_mark;
    };
    DestinationStore(Database& database, Statements statements)
        : database_(&database), statements_(std::move(statements)) {}

    Database* database_;
    Statements statements_;
};

}  // namespace dormouse::db

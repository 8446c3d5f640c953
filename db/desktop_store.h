// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.h"
#include "hostd/base/clock.h"
#include "hostd/base/id.h"
#include "hostd/base/labels.h"
#include "hostd/base/result.h"

namespace dormouse::db {

// A desktop as it is remembered. Times are kept to the millisecond.
struct DesktopRow {
    DesktopId id;
    DesktopName name;
    TemplateName image;
    std::string template_hash;
    std::string state;
    std::optional<std::string> reason;
    std::string vm_uuid;
    int memory_mib = 0;
    int cpus = 0;
    int screen_width = 0;
    int screen_height = 0;
    std::string accelerator;
    WallTime created_at;
    std::optional<WallTime> started_at;
    std::optional<std::string> exit_status;
    std::optional<std::string> exit_output;  // JSON list of lines
    std::string network = "open";            // "open" or "none"
    Labels labels{};
    WallTime updated_at{};
    std::string created_by{};  // id of a token; "" where nobody knows
    friend bool operator==(const DesktopRow&, const DesktopRow&) = default;
};

struct DesktopStateChange {
    std::string state;
    std::optional<std::string> reason;       // absent: none any more
    std::optional<WallTime> started_at;      // absent: stays as it is
    std::optional<std::string> exit_status;  // absent: none any more
    std::optional<std::string> exit_output;  // absent: none any more
};

// The desktops. On the `store` thread; each call is one transaction. The
// database must outlive it.
class DesktopStore {
  public:
    static Result<DesktopStore> open(Database& database);

    // Errc::Conflict when the name or the id is taken; a name must not be the id
    // of another either, since callers may use both.
    Result<> insert(const DesktopRow& row);

    Result<DesktopRow> find(std::string_view id_or_name);  // Errc::NotFound
    Result<std::vector<DesktopRow>> list();                // oldest first

    Result<> update_state(const DesktopId& id, const DesktopStateChange& change);  // Errc::NotFound

    // Overwrites all but id, image, created_at, name and labels. Errc::NotFound.
    Result<> update(const DesktopRow& row);

    // Errc::NotFound; Errc::Conflict when another has that name.
    Result<> describe(const DesktopId& id, const DesktopName& name, const Labels& labels, WallTime now);

    Result<> remove(const DesktopId& id);  // Errc::NotFound

  private:
    struct Statements {
        Statement insert, taken, find, list, update_state, update, describe, remove;
    };
    DesktopStore(Database& database, Statements statements)
        : database_(&database), statements_(std::move(statements)) {}

    Database* database_;
    Statements statements_;
};

}  // namespace dormouse::db

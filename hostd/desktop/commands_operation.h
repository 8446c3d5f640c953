// SPDX-License-Identifier: Apache-2.0
// Work that outlives the request that began it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/id.h"
#include "hostd/base/result.h"
#include "hostd/desktop/command_traits.h"
#include "hostd/desktop/commands_desktop.h"

namespace dormouse::desktop {

inline constexpr std::chrono::seconds kLongestOperationWait{60};

struct ListOperations {
    static constexpr CommandTraits traits{"operation.list", CommandGroup::Look};
};
struct GetOperation {
    static constexpr CommandTraits traits{"operation.get", CommandGroup::Look};
    OperationId operation;
    Duration wait{};  // answer when it has ended, or after so long; 0 to kLongestOperationWait
};
// Asks it to end. It answers at once; whether it ended as cancelled shows later.
struct CancelOperation {
    static constexpr CommandTraits traits{"operation.cancel", CommandGroup::Look};
    OperationId operation;
};
struct GetOperationLog {
    static constexpr CommandTraits traits{"operation.log", CommandGroup::Look};
    OperationId operation;
    std::uint64_t offset = 0;  // bytes that the caller has already
};

// ---- the answers

enum class OperationState { Running, Succeeded, Failed, Cancelled };
std::string_view operation_state_name(OperationState state);  // "running"
Result<OperationState> parse_operation_state(std::string_view name);

// What came out of one that succeeded, beyond the names that it has anyway.
struct OperationResult {
    std::optional<DesktopInfo> desktop;
};

struct OperationInfo {
    OperationId id;
    std::string kind;                   // name of the command: "desktop.create", "template.build"
    std::string token;                  // id of who began it
    std::optional<DesktopId> desktop;   // what it is about, where it is about one
    std::optional<TemplateName> image;  // likewise
    OperationState state = OperationState::Running;
    std::string step;                // "copying the disk"; for people
    std::optional<double> progress;  // 0 to 1; absent where nobody knows
    bool cancelling = false;         // somebody has asked it to end
    WallTime created_at;
    std::optional<WallTime> finished_at;
    std::optional<Error> error;             // when Failed or Cancelled
    std::optional<OperationResult> result;  // when Succeeded
};

// A part of what it said.
struct OperationLog {
    std::string text;
    std::uint64_t offset = 0;       // of the first byte of text; more than was asked for when that is gone
    std::uint64_t next_offset = 0;  // where to go on
    bool finished = false;          // nothing will be added
};

}  // namespace dormouse::desktop

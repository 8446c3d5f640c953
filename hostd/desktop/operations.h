// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/desktop/commands_operation.h"

namespace dormouse::desktop {

struct OperationLimits {
    std::size_t finished = 1000;                  // how many are remembered
    Duration remembered = std::chrono::hours{1};  // after the end
    std::size_t log_bytes = 1 << 20;              // of each; the oldest go first
    std::size_t running = 100;                    // then Errc::Unavailable
};

// What is begun.
struct OperationStart {
    std::string kind;   // name of the command: "template.build"
    std::string token;  // Caller::token of who begins it
    std::optional<DesktopId> desktop;
    std::optional<TemplateName> image;
};

class Operations;

// The one who does the work holds this. Copies share it; core thread. When the
// last copy goes without finish(), the operation has failed with Errc::Internal.
// It may outlive the registry: then nothing happens any more.
//
//   DORMOUSE_TRY_ASSIGN(auto operation, operations.begin({.kind = "template.build", .token = caller.token}));
//   spawn([](OperationHandle op, ...) -> Task<void> {
//       op.set_step("packages", 0.1);
//       auto done = co_await build(..., op.cancel());   // stops soon once that is cancelled
//       op.finish(std::move(done));                     // an error is Cancelled where cancel was asked for
//   }(operation, ...));
class OperationHandle {
  public:
    const OperationId& id() const;
    OperationInfo info() const;

    // What it is doing now, in a few words; progress 0 to 1 where that is known.
    void set_step(std::string step, std::optional<double> progress = {});
    void set_desktop(const DesktopId& desktop);
    // One line for its log; bytes that are no UTF-8 become U+FFFD, control
    // characters (but tab) spaces. A line break is added.
    void append_log(std::string_view line);
    // The first one counts. An error after cancel() was asked for is Cancelled.
    void finish(Result<OperationResult> result);
    void finish(Result<> result);
    // Watch this, and end soon when it is cancelled.
    Cancel cancel() const;

  private:
    friend class Operations;
    struct Shared;
    explicit OperationHandle(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
    std::shared_ptr<Shared> shared_;
};

// All operations of this daemon, running and some finished ones. Core thread.
class Operations {
  public:
    // Called after each change but to the log, with what has changed.
    using Listener = std::function<void(const OperationInfo& info)>;

    explicit Operations(EventLoop& loop, OperationLimits limits = {});
    ~Operations();
    Operations(const Operations&) = delete;
    Operations& operator=(const Operations&) = delete;

    void set_listener(Listener listener);

    Result<OperationHandle> begin(OperationStart start);  // Errc::Unavailable when too many run

    // One of an earlier daemon.
    void restore(OperationInfo info);

    Result<OperationInfo> find(const OperationId& id);  // Errc::NotFound, as in all that follow
    std::vector<OperationInfo> list();                  // newest first
    // Answers once it has ended, or after `longest`, or when `gone` is cancelled.
    Task<Result<OperationInfo>> wait(OperationId id, Duration longest, Cancel gone);
    // At most 256 KiB from `offset` on, whole characters.
    Result<OperationLog> log(const OperationId& id, std::uint64_t offset);
    // Errc::Conflict when it has ended.
    Result<OperationInfo> cancel(const OperationId& id);

    // At the daemon's end: asks all to end, and waits until they have.
    Task<void> end_all();

    struct State;  // for the handles

  private:
    std::shared_ptr<State> state_;
};

}  // namespace dormouse::desktop

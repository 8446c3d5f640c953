// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/unique_fd.h"

namespace dormouse {

// Blocks SIGINT and SIGTERM in this thread and those it makes later, and ignores
// SIGPIPE. To be called before the first thread is made.
void block_signals();

// Calls back on the loop when SIGINT or SIGTERM comes.
class SignalWatch {
  public:
    static Result<SignalWatch> open(EventLoop& loop, std::function<void(int signal)> callback);

  private:
    SignalWatch() = default;
    UniqueFd fd_;
    EventLoop::IoWatch watch_;  // before fd_ goes
};

}  // namespace dormouse

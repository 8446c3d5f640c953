// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "hostd/base/clock.h"
#include "hostd/cli/context.h"

namespace dormouse::cli {

// One line on a terminal that says what is being waited for, and for how long;
// nothing at all elsewhere. The line is gone when this is destroyed. While it
// lives, nobody else may write to standard error. set() is for any thread.
class Progress {
  public:
    Progress(Streams& streams, std::string text);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void set(std::string text);

  private:
    void draw();
    void work(const std::stop_token& stop);

    Streams& streams_;
    const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::string text_;     // guarded by mutex_
    std::jthread thread_;  // last: it uses the others
};

}  // namespace dormouse::cli

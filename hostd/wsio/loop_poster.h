// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <vector>

struct lws_context;

namespace dormouse::wsio {

// The one door to the thread that runs a libwebsockets context.
class LoopPoster {
  public:
    using Task = std::function<void()>;

    // Any thread. False, and the task dropped, once the loop has closed.
    bool post(Task task);

    // The loop's thread: wakes go to `context` from now on.
    void open(lws_context* context);
    // The loop's thread, before the context dies; drops what is queued.
    void close();
    // The loop's thread: runs what was posted before the call.
    void run_posted();

  private:
    std::mutex mutex_;
    lws_context* context_ = nullptr;  // guarded by mutex_; null before open() and after close()
    bool closed_ = false;             // guarded by mutex_
    std::vector<Task> tasks_;         // guarded by mutex_
};

}  // namespace dormouse::wsio

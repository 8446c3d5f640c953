// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/loop_poster.h"

#include <libwebsockets.h>

#include <utility>

namespace dormouse::wsio {

bool LoopPoster::post(Task task) {
    std::lock_guard lock{mutex_};
    if (closed_) return false;
    tasks_.push_back(std::move(task));
    // Under the lock, so that the context cannot die in the middle of it. It
    // only writes to an eventfd.
    if (context_ != nullptr) lws_cancel_service(context_);
    return true;
}

void LoopPoster::open(lws_context* context) {
    std::lock_guard lock{mutex_};
    context_ = context;
    if (!tasks_.empty()) lws_cancel_service(context_);
}

void LoopPoster::close() {
    std::vector<Task> dropped;  // destroyed outside the lock: a task may own a Responder
    std::lock_guard lock{mutex_};
    context_ = nullptr;
    closed_ = true;
    dropped.swap(tasks_);
}

void LoopPoster::run_posted() {
    std::vector<Task> tasks;
    {
        std::lock_guard lock{mutex_};
        tasks.swap(tasks_);
    }
    for (auto& task : tasks) task();
}

}  // namespace dormouse::wsio

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "display/framebuffer.h"
#include "hostd/base/result.h"

namespace dormouse::display {

// A picture ready to be sent.
struct Still {
    std::shared_ptr<const std::string> bytes;  // a PNG file
    Size size;
    Generation generation = 0;
    MonotonicTime changed_at;
};

// The newest picture of a framebuffer as a PNG, encoded once for each
// generation. Any thread; callers that come while it is being encoded wait for
// that one encoding. The framebuffer must outlive it.
class StillCache {
  public:
    using Encoder = std::function<Result<std::string>(const ImageView&)>;
    explicit StillCache(const Framebuffer& framebuffer);
    StillCache(const Framebuffer& framebuffer, Encoder encoder);

    // Blocks for an encoding at most: call it on the work pool.
    // Errc::Unavailable before the first picture.
    Result<Still> newest();

    // The same without ever blocking: only when it is encoded already.
    Result<Still> newest_if_ready() const;

  private:
    const Framebuffer& framebuffer_;
    const Encoder encoder_;
    mutable std::mutex mutex_;
    std::condition_variable encoded_;
    Still still_;            // guarded by mutex_
    bool encoding_ = false;  // guarded by mutex_
};

}  // namespace dormouse::display

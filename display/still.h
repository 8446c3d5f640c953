// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "display/cursor.h"
#include "display/framebuffer.h"
#include "display/still_options.h"
#include "hostd/base/result.h"

namespace dormouse::display {

// A picture ready to be sent.
//
// A pixel x, y of it shows the screen at region.x + (2x+1)*region.width/(2*size.width),
// rounded down, and so for y.
struct Still {
    std::shared_ptr<const std::string> bytes;  // a file of `format`
    ImageFormat format = ImageFormat::Png;
    Size size;                                  // of the picture
    Rect region;                                // of the screen: what the picture shows
    Size screen;                                // pixels
    int quality = 0;                            // that it was made with; 0: lossless
    CursorDrawn cursor = CursorDrawn::Unknown;  // only where it was asked for
    Generation generation = 0;
    MonotonicTime changed_at;
    std::string tag;  // stands for these very bytes, also after a restart; of a StillCache only
};

// Makes one still: cuts out, draws the pointer, scales, encodes, and again until
// it fits max_bytes. Errc::InvalidArgument for what plan_still() refuses and
// where not even the smallest fits. Any thread; takes milliseconds, so not on `core`.
Result<Still> make_still(const Snapshot& snapshot, const CursorState& cursor, const StillOptions& options);

// The newest pictures of a framebuffer, made once for each generation and
// options. Any thread; callers that want one that is being made wait for it, and
// for no other. Keeps the last kKept, and none of older generations than the
// newest made. The framebuffer must outlive it.
class StillCache {
  public:
    using Maker = std::function<Result<Still>(const Snapshot&, const CursorState&, const StillOptions&)>;
    static constexpr std::size_t kKept = 6;

    explicit StillCache(const Framebuffer& framebuffer) : StillCache(framebuffer, make_still) {}
    StillCache(const Framebuffer& framebuffer, Maker maker);

    // Blocks until it is made: call it on the work pool. Errors as make_still();
    // Errc::Unavailable before the first picture.
    Result<Still> newest(const StillOptions& options = {});

    // The same without ever waiting: only when it is made already.
    // Errc::Unavailable else.
    Result<Still> newest_if_ready(const StillOptions& options = {}) const;

  private:
    // What a still was made of.
    struct Key {
        StillOptions options;
        Generation generation = 0;
        Generation cursor = 0;  // 0 where the pointer is not asked for
        friend bool operator==(const Key&, const Key&) = default;
    };
    std::string tag_of(const Key& key) const;
    static Key key_of(const StillOptions& options, Generation generation, const CursorState& cursor);
    Result<Still> make_guarded(const Snapshot& snapshot, const CursorState& cursor,
                               const StillOptions& options) const;
    void keep(const Key& key, const Still& still);

    const Framebuffer& framebuffer_;
    const Maker maker_;
    const std::string epoch_;  // generations begin again in each process
    mutable std::mutex mutex_;
    std::condition_variable made_;
    std::vector<std::pair<Key, Still>> kept_;  // guarded by mutex_; the newest last
    std::vector<Key> in_work_;                 // guarded by mutex_
};

}  // namespace dormouse::display

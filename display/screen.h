// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "display/frame_source.h"
#include "display/framebuffer.h"
#include "display/settle.h"
#include "display/still.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/unique_fd.h"

namespace dormouse::display {

// One desktop's screen: framebuffer, where it comes from, stills.
//
// Lives on the loop's thread; the calls that say so may come from any thread.
// The picture stays when the source is detached or ends, so a screenshot of a
// stopped desktop is its last picture. Destroying it detaches. The loop's clock
// is read on the frame thread too.
class Screen {
  public:
    Screen(std::string id, EventLoop& loop);
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    // Takes pictures from QEMU over `socket` (see DbusSource) instead of what
    // was attached before. Does not wait for the first picture. Joining the
    // frame thread of the old source takes no longer than one message.
    // Where an old source of the same VM may still be attached, detach() it before
    // the new socket is given to QEMU: QEMU 7.2 mixes up two listeners at once.
    Result<> attach(UniqueFd socket);
    void detach();
    bool attached() const;        // attached and not ended
    SourceStatus status() const;  // Ended with Errc::Unavailable when nothing is attached

    // Any thread.
    Framebuffer& framebuffer() { return core_->framebuffer; }
    const Framebuffer& framebuffer() const { return core_->framebuffer; }
    Size size() const { return core_->framebuffer.size(); }
    Generation generation() const { return core_->framebuffer.generation(); }
    std::shared_ptr<const Snapshot> snapshot() const { return core_->framebuffer.snapshot(); }
    // Any thread; blocks for one encoding at most: call it on the work pool.
    Result<Still> take_png() { return core_->stills.newest(); }
    // A handle that outlives the screen, for jobs on the work pool.
    std::function<Result<Still>()> png_job() const;

    // Called on the loop after the picture, the cursor or the status changed;
    // many changes in a row make one call.
    void set_on_change(std::function<void()> callback);

    // Waits for the source's first picture. Errc::Timeout; the source's reason
    // when it ends; Errc::Unavailable when it is detached or the screen destroyed.
    Task<Result<>> wait_live(Duration timeout);

    // Waits until the screen has come to rest, counted from now; gives the
    // generation it rests at. Errors as above. Errc::Timeout leaves all as it is.
    Task<Result<Generation>> wait_settled(SettleOptions options, Duration timeout);

  private:
    struct Core {
        explicit Core(EventLoop& owner) : loop(owner), framebuffer(owner.clock()), stills(framebuffer) {}
        EventLoop& loop;
        Framebuffer framebuffer;
        StillCache stills;
        std::atomic<bool> notified{false};  // a call of changed() is on its way
        // Below: on the loop's thread only.
        std::unique_ptr<FrameSource> source;
        std::function<void()> on_change;
        std::vector<std::shared_ptr<Completion<bool>>> waiting;
    };
    static void post_change(const std::shared_ptr<Core>& core);  // any thread
    static void changed(const std::shared_ptr<Core>& core);
    static SourceStatus status_of(const Core& core);
    static Task<bool> next_change(std::shared_ptr<Core> core, MonotonicTime until);
    static Task<Result<>> wait_live_in(std::shared_ptr<Core> core, Duration timeout);
    static Task<Result<Generation>> wait_settled_in(std::shared_ptr<Core> core, SettleOptions options,
                                                    Duration timeout);

    std::string id_;
    std::shared_ptr<Core> core_;
};

}  // namespace dormouse::display

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "display/changes.h"
#include "display/frame_source.h"
#include "display/framebuffer.h"
#include "display/settle.h"
#include "display/still.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/unique_fd.h"

namespace dormouse::display {

// What came of waiting until a screen has come to rest.
struct Settled {
    bool settled = false;
    Duration took{};            // of the wait, to the moment when it was known
    Generation generation = 0;  // the newest by then
};

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

    // Takes pictures from QEMU over `socket` (see DbusSource, RfbSource) instead of
    // what was attached before. Does not wait for the first picture. Joining the
    // frame thread of the old source takes no longer than one message.
    // Where an old source of the same VM may still be attached, detach() it before
    // the new socket is given to QEMU: QEMU 7.2 mixes up two listeners at once.
    Result<> attach(UniqueFd socket, SourceKind kind = SourceKind::Dbus);
    void detach();
    bool attached() const;        // attached and not ended
    SourceStatus status() const;  // Ended with Errc::Unavailable when nothing is attached

    // Where the pointer was sent, for sources that do not tell where it is: the
    // others know better, and then this does nothing.
    void pointer_sent_to(int x, int y);

    // Any thread.
    Framebuffer& framebuffer() { return core_->framebuffer; }
    const Framebuffer& framebuffer() const { return core_->framebuffer; }
    Size size() const { return core_->framebuffer.size(); }
    Generation generation() const { return core_->framebuffer.generation(); }
    std::shared_ptr<const Snapshot> snapshot() const { return core_->framebuffer.snapshot(); }
    // The newest picture, if it is made already and so costs nothing; any thread.
    // Errc::Unavailable else: then run still_job().
    Result<Still> still_if_ready(const StillOptions& options = {}) const {
        return core_->stills.newest_if_ready(options);
    }
    // Makes the newest picture: blocks for as long as that takes, so call it on
    // the work pool. It outlives the screen. Errors as StillCache::newest().
    std::function<Result<Still>()> still_job(const StillOptions& options = {}) const;

    // Which parts of the screen are different now from what they were in `before`
    // (of snapshot()), as find_changes(). Any thread; about two milliseconds, none
    // when nothing has changed. Empty for null and before the first picture.
    std::vector<Rect> changed_regions(const std::shared_ptr<const Snapshot>& before) const;

    // Called on the loop after the picture, the cursor or the status changed;
    // many changes in a row make one call.
    void set_on_change(std::function<void()> callback);

    // Waits for the source's first picture. Errc::Timeout; the source's reason
    // when it ends; Errc::Unavailable when it is detached or the screen destroyed.
    Task<Result<>> wait_live(Duration timeout);

    // Waits until the screen has come to rest (see SettleDetector for what that
    // is), counted from now, but no longer than `longest`: a screen on which a
    // film runs never does. That is no error, but settled == false. Errors as
    // above, when there is no picture within `longest` or no screen any more.
    Task<Result<Settled>> wait_settled(SettleOptions options, Duration longest);

  private:
    struct Core {
        explicit Core(EventLoop& owner) : loop(owner), framebuffer(owner.clock()), stills(framebuffer) {}
        EventLoop& loop;
        Framebuffer framebuffer;
        StillCache stills;
        std::atomic<bool> notified{false};  // a call of changed() is on its way
        // Below: on the loop's thread only.
        std::unique_ptr<FrameSource> source;
        SourceKind kind = SourceKind::Dbus;
        std::function<void()> on_change;
        std::vector<std::shared_ptr<Completion<bool>>> waiting;
    };
    static void post_change(const std::shared_ptr<Core>& core);  // any thread
    static void changed(const std::shared_ptr<Core>& core);
    static SourceStatus status_of(const Core& core);
    static Task<bool> next_change(std::shared_ptr<Core> core, MonotonicTime until);
    static Task<Result<>> wait_live_in(std::shared_ptr<Core> core, Duration timeout);
    static Task<Result<Settled>> wait_settled_in(std::shared_ptr<Core> core, SettleOptions options,
                                                 Duration longest);

    std::string id_;
    std::shared_ptr<Core> core_;
};

}  // namespace dormouse::display

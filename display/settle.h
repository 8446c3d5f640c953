// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "display/framebuffer.h"
#include "hostd/base/clock.h"

namespace dormouse::display {

struct SettleOptions {
    Duration quiet = std::chrono::milliseconds{500};

    // A change of at most so many tiles is small. A text caret touches 1 to 4
    // tiles, a clock in the panel 1 to 4.
    int small_tiles = 6;

    // A small area that changes again after between these two times is taken
    // for something that blinks (carets: 0.5 to 0.6 s, clocks: 1 s) and does not
    // count. Sooner is somebody typing or a turning wheel: that does count.
    Duration blink_min = std::chrono::milliseconds{250};
    Duration blink_max = std::chrono::seconds{5};
};

// Decides when a screen has come to rest: when for `quiet` nothing has changed
// but what blinks. What blinks is a small area (at most small_tiles of 64x64) that
// changed before and changes again after blink_min to blink_max: text carets,
// clocks, tray icons. The first change at a place counts, so a screen with a caret
// settles one `quiet` later than one without; a large change makes it forget what
// blinked. What turns all the time (a spinner, a film, a progress bar) keeps the
// screen from settling: whoever waits sets a maximum, see Screen::wait_settled.
//
// Pure: it is told changes and times, has no thread and no clock.
class SettleDetector {
  public:
    SettleDetector(SettleOptions options, MonotonicTime start) : options_(options), last_(start) {}

    // Times must not go back. `damage.rects` as Framebuffer gives them.
    void changed(const Damage& damage);

    bool settled(MonotonicTime now) const { return now >= settles_at(); }
    MonotonicTime settles_at() const { return last_ + options_.quiet; }  // unless something changes
    MonotonicTime last_change() const { return last_; }                  // that counted

  private:
    using Tile = std::pair<int, int>;
    bool is_blink(const std::vector<Tile>& tiles, MonotonicTime when) const;

    SettleOptions options_;
    MonotonicTime last_;
    std::map<Tile, MonotonicTime> small_;  // when a small change was last seen there
};

}  // namespace dormouse::display

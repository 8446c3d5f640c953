// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hostd/base/result.h"

namespace dormouse::display {

enum class SourceState {
    Connecting,  // no picture came yet
    Live,        // the framebuffer shows what the guest shows
    Ended,       // for good; make another one
};

struct SourceStatus {
    SourceState state = SourceState::Connecting;
    Error reason;  // when Ended
};

enum class SourceKind {
    Dbus,  // DbusSource
    Vnc,   // RfbSource
};

// Where a screen's pictures come from. Writes into the Framebuffer that it was
// made with, from a thread of its own, until it ends or is destroyed; destroying
// it stops and joins that thread and leaves the last picture where it is.
class FrameSource {
  public:
    virtual ~FrameSource() = default;
    virtual SourceStatus status() const = 0;  // any thread
};

}  // namespace dormouse::display

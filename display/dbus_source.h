// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "display/frame_source.h"
#include "display/framebuffer.h"
#include "hostd/base/clock.h"
#include "hostd/base/unique_fd.h"

namespace dormouse::display {

// QEMU's D-Bus display, peer to peer.
//
// `socket` is a connected stream socket whose other end was given to QEMU by
// QMP getfd and add_client with protocol "@dbus-display". The thread is named
// "frame-<id>". QEMU serves the hand-shake on its main loop, so this thread
// never waits for anything but the two sockets.
//
// It ends (status().state == Ended) when QEMU closes, does not answer, or breaks
// the protocol; QEMU 7.2 also drops a listener when an older one of the same
// desktop vanishes late. The owner makes a new one as long as the VM runs.
struct DbusSourceOptions {
    std::string id;                               // the desktop's, for the thread's name and the log
    Duration timeout = std::chrono::seconds{30};  // from start to the first picture
    int console = 0;                              // QEMU's number of the screen
    // Called on the frame thread after each change of the framebuffer, the
    // cursor or the status. Must be quick, must not throw, must not destroy the source.
    std::function<void()> on_change;
};

class DbusSource final : public FrameSource {
  public:
    static Result<std::unique_ptr<DbusSource>> start(UniqueFd socket, Framebuffer& framebuffer,
                                                     DbusSourceOptions options);
    ~DbusSource() override;
    SourceStatus status() const override;

  private:
    class Worker;
    explicit DbusSource(std::unique_ptr<Worker> worker);
    std::unique_ptr<Worker> worker_;
};

}  // namespace dormouse::display

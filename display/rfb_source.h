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

// QEMU's VNC server, for a QEMU without the D-Bus display. Slower: QEMU looks
// for changes 33 times a second at best, so a change is seen 4 to 40 ms after it
// was drawn; and where the pointer is, QEMU does not tell.
//
// `socket` is a connected stream socket whose other end was given to QEMU by QMP
// getfd and add_client with protocol "vnc". Security type "none" only: nobody
// else has that socket. The thread is named "frame-<id>". It ends
// (status().state == Ended) when QEMU closes, breaks the protocol, or names a
// screen beyond kMaxSide. What QEMU sends is decoded by libvncclient.
struct RfbSourceOptions {
    std::string id;                               // the desktop's, for the thread's name and the log
    Duration timeout = std::chrono::seconds{30};  // from start to the first picture

    // QEMU looks less and less often (down to every 3 s) at a screen that does not
    // change. Any message of a type above 3 brings it back to every 30 ms; so
    // often one is sent: a clipboard of no characters, which nothing in our
    // machines listens to.
    Duration keep_awake = std::chrono::milliseconds{20};

    // Called on the frame thread after each change of the framebuffer, the
    // cursor or the status. Must be quick, must not throw, must not destroy the source.
    std::function<void()> on_change;
};

class RfbSource final : public FrameSource {
  public:
    static Result<std::unique_ptr<RfbSource>> start(UniqueFd socket, Framebuffer& framebuffer,
                                                    RfbSourceOptions options);
    ~RfbSource() override;
    SourceStatus status() const override;

  private:
    class Worker;
    explicit RfbSource(std::unique_ptr<Worker> worker);
    std::unique_ptr<Worker> worker_;
};

}  // namespace dormouse::display

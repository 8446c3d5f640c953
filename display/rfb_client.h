// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "display/framebuffer.h"
#include "hostd/base/unique_fd.h"

typedef struct _rfbClient rfbClient;  // NOLINT: libvncclient's name

namespace dormouse::display {

// One RFB connection, decoded by libvncclient, whose changes go into a
// Framebuffer. All calls from one thread; they block on the socket: shut it down
// from elsewhere to end them.
class RfbClient {
  public:
    explicit RfbClient(Framebuffer& framebuffer) : framebuffer_(framebuffer) {}
    ~RfbClient();
    RfbClient(const RfbClient&) = delete;
    RfbClient& operator=(const RfbClient&) = delete;

    // The hand-shake; takes the socket. Errc::Interrupted, Errc::Corrupt.
    Result<> connect(UniqueFd socket);

    // Handles one message, which must have begun to arrive. True when the
    // framebuffer or the cursor changed. Errors as above.
    Result<bool> handle_message();

    // Bytes that were read and not handled: poll() does not know of them.
    bool has_buffered() const;

    bool has_picture() const { return has_picture_; }  // all of the screen came at least once

    // See RfbSourceOptions::keep_awake.
    Result<> send_keep_awake();

  private:
    struct Callbacks;  // what libvncclient calls
    struct FreePixels {
        void operator()(Pixel* pixels) const noexcept;
    };

    bool resize(int width, int height);
    void note_rect(const Rect& rect);
    void finish_update();
    void take_cursor(int hot_x, int hot_y, int width, int height);
    void put(const Rect& rect);
    Result<> choose_encodings();
    tl::unexpected<Error> failed(Errc code, std::string_view doing);

    Framebuffer& framebuffer_;
    rfbClient* client_ = nullptr;                  // freed by us, but for a failed hand-shake
    std::unique_ptr<Pixel[], FreePixels> pixels_;  // libvncclient draws into them
    Size size_;
    std::vector<Rect> rects_;  // of the update that is being read
    std::int64_t rects_area_ = 0;
    bool incomplete_ = true;  // not every pixel of this size has come
    bool has_picture_ = false;
    bool changed_ = false;
    std::string refused_;  // why a callback said no
};

}  // namespace dormouse::display

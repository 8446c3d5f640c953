// SPDX-License-Identifier: Apache-2.0
#include "display/rfb_client.h"

#include <rfb/rfbclient.h>
#include <sys/select.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include "hostd/base/log.h"

namespace dormouse::display {

namespace {

// More parts than this in one update, and it is looked at as a whole.
constexpr std::size_t kMostRects = 1024;

char self_tag;  // its address is what libvncclient finds us by

RfbClient* self_of(rfbClient* client) {
    return static_cast<RfbClient*>(rfbClientGetClientData(client, &self_tag));
}

// libvncclient's log is one for the whole process, goes to standard error by
// default, and says mostly what QEMU sent.
void log_line(const char* format, ...) {
    std::array<char, 256> text{};
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    std::string_view line{text.data()};
    while (!line.empty() && line.back() == '\n') line.remove_suffix(1);
    log::debug("vnc", {{"text", line}});
}

void quieten() {
    static std::once_flag once;
    std::call_once(once, [] {
        rfbClientLog = log_line;
        rfbClientErr = log_line;
    });
}

void append_number(std::string& message, std::uint32_t number, int bytes) {
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
        message.push_back(static_cast<char>((number >> shift) & 0xff));
}

}  // namespace

// libvncclient is C: nothing may pass through it.
struct RfbClient::Callbacks {
    static rfbBool guarded(rfbClient* client, auto&& body) noexcept {
        auto* self = self_of(client);
        try {
            return body(*self) ? TRUE : FALSE;
        } catch (const std::exception& e) {
            self->refused_ = e.what();
            return FALSE;
        }
    }
    static rfbBool resize(rfbClient* client) {
        return guarded(client, [&](RfbClient& self) {
            if (!self.resize(client->width, client->height)) return false;
            client->frameBuffer = reinterpret_cast<std::uint8_t*>(self.pixels_.get());
            return true;
        });
    }
    static void updated(rfbClient* client, int x, int y, int width, int height) {
        (void)guarded(client, [&](RfbClient& self) {
            self.note_rect({x, y, width, height});
            return true;
        });
    }
    static void finished(rfbClient* client) {
        (void)guarded(client, [](RfbClient& self) {
            self.finish_update();
            return true;
        });
    }
    static void cursor_shape(rfbClient* client, int hot_x, int hot_y, int width, int height, int) {
        (void)guarded(client, [&](RfbClient& self) {
            self.take_cursor(hot_x, hot_y, width, height);
            return true;
        });
        // Only the next shape would free the one, and nobody the other.
        std::free(std::exchange(client->rcSource, nullptr));
        std::free(std::exchange(client->rcMask, nullptr));
    }
    static rfbBool cursor_position(rfbClient* client, int x, int y) {
        return guarded(client, [&](RfbClient& self) {
            self.framebuffer_.set_cursor_position(x, y, true);
            self.changed_ = true;
            return true;
        });
    }
    // The default one asks on the terminal.
    static char* no_password(rfbClient*) { return nullptr; }
};

void RfbClient::FreePixels::operator()(Pixel* pixels) const noexcept {
    std::free(pixels);
}

RfbClient::~RfbClient() {
    if (client_ == nullptr) return;
    std::free(std::exchange(client_->rcSource, nullptr));
    std::free(std::exchange(client_->rcMask, nullptr));
    rfbClientCleanup(client_);
}

Result<> RfbClient::connect(UniqueFd socket) {
    if (socket.get() >= FD_SETSIZE)  // libvncclient uses select()
        return fail(Errc::Unavailable, "too many open files for a VNC connection");
    quieten();
    auto* client = rfbGetClient(8, 3, 4);
    if (client == nullptr) return fail(Errc::Internal, "out of memory for a VNC connection");
    rfbClientSetClientData(client, &self_tag, this);
    client->MallocFrameBuffer = Callbacks::resize;
    client->GotFrameBufferUpdate = Callbacks::updated;
    client->FinishedFrameBufferUpdate = Callbacks::finished;
    client->GotCursorShape = Callbacks::cursor_shape;
    client->HandleCursorPos = Callbacks::cursor_position;
    client->GetPassword = Callbacks::no_password;
    // The words of our Pixel: then what comes needs no conversion.
    client->format.redShift = 16;
    client->format.greenShift = 8;
    client->format.blueShift = 0;
    client->appData.encodingsString = "raw";
    client->appData.useRemoteCursor = TRUE;
    client->canHandleNewFBSize = TRUE;
    const std::array<std::uint32_t, 2> none{rfbNoAuth, 0};
    SetClientAuthSchemes(client, none.data(), -1);
    client->listenSpecified = TRUE;  // it is connected already
    client->sock = socket.release();
    if (!rfbInitClient(client, nullptr, nullptr))  // which has freed it then
        return failed(Errc::Interrupted, "QEMU's VNC server refused us or went away");
    client_ = client;
    return choose_encodings();
}

// Once more, and without ExtendedDesktopSize, which libvncclient always asks for
// and 0.9.14 then ignores when it comes from QEMU (a screen with the number 0).
Result<> RfbClient::choose_encodings() {
    const std::array<std::int32_t, 4> wanted{0, -239, -232, -223};  // raw, cursor, its position, size
    std::string message;
    append_number(message, 2 << 8, 2);  // SetEncodings, padding
    append_number(message, static_cast<std::uint32_t>(wanted.size()), 2);
    for (const auto encoding : wanted) append_number(message, static_cast<std::uint32_t>(encoding), 4);
    if (!WriteToRFBServer(client_, message.data(), static_cast<unsigned>(message.size())))
        return failed(Errc::Interrupted, "QEMU closed the VNC connection");
    return {};
}

Result<> RfbClient::send_keep_awake() {
    const std::array<char, 8> empty_clipboard{6};  // ClientCutText of length 0
    if (!WriteToRFBServer(client_, empty_clipboard.data(), static_cast<unsigned>(empty_clipboard.size())))
        return failed(Errc::Interrupted, "QEMU closed the VNC connection");
    return {};
}

bool RfbClient::has_buffered() const {
    return client_->buffered > 0;
}

Result<bool> RfbClient::handle_message() {
    changed_ = false;
    if (!HandleRFBServerMessage(client_) || !refused_.empty())
        return failed(Errc::Interrupted, "QEMU closed the VNC connection");
    return changed_;
}

tl::unexpected<Error> RfbClient::failed(Errc code, std::string_view doing) {
    if (refused_.empty()) return fail(code, std::string{doing});
    return fail(Errc::Corrupt, fmt::format("QEMU's VNC server sent nonsense: {}", refused_));
}

bool RfbClient::resize(int width, int height) {
    if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide) {
        refused_ = fmt::format("a screen of {} by {} pixels", width, height);
        return false;
    }
    // calloc: pages that nothing is drawn to cost nothing.
    const auto count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    pixels_.reset(static_cast<Pixel*>(std::calloc(count, sizeof(Pixel))));
    if (!pixels_) throw std::bad_alloc{};
    size_ = {width, height};
    rects_.clear();
    rects_area_ = 0;
    incomplete_ = true;
    return true;
}

void RfbClient::note_rect(const Rect& rect) {
    const auto clipped = intersect(rect, Rect::whole(size_));
    if (clipped.empty()) return;
    rects_area_ += clipped.area();
    if (rects_.size() >= kMostRects) rects_.assign(1, Rect::whole(size_));
    rects_.push_back(clipped);
}

void RfbClient::finish_update() {
    const auto rects = std::exchange(rects_, {});
    const auto area = std::exchange(rects_area_, 0);
    if (rects.empty()) return;
    if (!incomplete_) {
        for (const auto& rect : rects) put(rect);
        return;
    }
    // Parts of a new size do not overlap within one update, so areas can be counted.
    if (area < Rect::whole(size_).area()) return;
    incomplete_ = false;
    put(Rect::whole(size_));
    has_picture_ = true;
}

void RfbClient::put(const Rect& rect) {
    RawPixels raw;
    raw.width = rect.width;
    raw.height = rect.height;
    raw.stride = static_cast<std::uint32_t>(size_.width) * sizeof(Pixel);
    raw.format = kPixmanX8R8G8B8;
    const auto first = static_cast<std::size_t>(rect.y) * static_cast<std::size_t>(size_.width) +
                       static_cast<std::size_t>(rect.x);
    const auto all = static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
    raw.data = std::as_bytes(std::span{pixels_.get() + first, all - first});
    const bool whole = rect == Rect::whole(size_);
    const auto changed = whole ? framebuffer_.replace(raw) : framebuffer_.update(rect.x, rect.y, raw);
    if (!changed) {
        refused_ = changed.error().message;
    } else if (*changed) {
        changed_ = true;
    }
}

// The mask says which pixels there are; half-transparent ones are not known to RFB.
void RfbClient::take_cursor(int hot_x, int hot_y, int width, int height) {
    const auto count = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    std::vector<Pixel> shape(count);
    const auto* colours = reinterpret_cast<const std::byte*>(client_->rcSource);
    for (std::size_t i = 0; i < count; ++i) {
        if (client_->rcMask[i] == 0) continue;
        std::memcpy(&shape[i], colours + i * sizeof(Pixel), sizeof(Pixel));
        shape[i] |= 0xff000000;
    }
    // One that is too large for us is left away; the screen goes on.
    if (framebuffer_.set_cursor_shape(width, height, hot_x, hot_y, std::as_bytes(std::span{shape})))
        changed_ = true;
}

}  // namespace dormouse::display

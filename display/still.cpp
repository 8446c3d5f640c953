// SPDX-License-Identifier: Apache-2.0
#include "display/still.h"

#include <exception>

#include "display/png.h"

namespace dormouse::display {

namespace {

tl::unexpected<Error> no_picture() {
    return fail(Errc::Unavailable, "the screen has no picture yet", "try again in a moment");
}

}  // namespace

StillCache::StillCache(const Framebuffer& framebuffer) : StillCache(framebuffer, encode_png) {}

StillCache::StillCache(const Framebuffer& framebuffer, Encoder encoder)
    : framebuffer_(framebuffer), encoder_(std::move(encoder)) {}

Result<Still> StillCache::newest() {
    std::unique_lock lock{mutex_};
    encoded_.wait(lock, [this] { return !encoding_; });
    const auto snapshot = framebuffer_.snapshot();
    if (!snapshot) return no_picture();
    if (still_.bytes && still_.generation == snapshot->generation) return still_;

    encoding_ = true;
    lock.unlock();
    Result<std::string> png = fail(Errc::Internal, "the picture was not encoded");
    try {
        png = encoder_(snapshot->image.view());
    } catch (const std::exception& e) {  // those who wait must be woken
        png = fail(Errc::Internal, fmt::format("cannot encode the picture: {}", e.what()));
    }
    lock.lock();
    encoding_ = false;
    encoded_.notify_all();
    if (!png) return tl::make_unexpected(std::move(png.error()));
    still_ = {std::make_shared<const std::string>(std::move(*png)), snapshot->image.size(),
              snapshot->generation, snapshot->changed_at};
    return still_;
}

Result<Still> StillCache::newest_if_ready() const {
    const std::lock_guard lock{mutex_};
    const auto generation = framebuffer_.generation();
    if (generation == 0) return no_picture();
    if (!still_.bytes || still_.generation != generation)
        return fail(Errc::Unavailable, "the newest picture is not encoded yet");
    return still_;
}

}  // namespace dormouse::display

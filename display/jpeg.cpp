// SPDX-License-Identifier: Apache-2.0
#include "display/jpeg.h"

#include <turbojpeg.h>

#include <memory>

#include "display/raw_pixels.h"

namespace dormouse::display {

namespace {

constexpr int kFullColourFrom = 90;

struct DestroyHandle {
    void operator()(void* handle) const noexcept { tjDestroy(handle); }
};
using Handle = std::unique_ptr<void, DestroyHandle>;

struct FreeBuffer {
    void operator()(unsigned char* bytes) const noexcept { tjFree(bytes); }
};
using Buffer = std::unique_ptr<unsigned char, FreeBuffer>;

}  // namespace

Result<std::string> encode_jpeg(const ImageView& view, int quality) {
    if (view.size.empty() || view.size.width > kMaxSide || view.size.height > kMaxSide)
        return fail(Errc::InvalidArgument,
                    fmt::format("cannot make a JPEG of {} by {} pixels", view.size.width, view.size.height));
    const Handle handle{tjInitCompress()};
    if (!handle) return fail(Errc::Internal, "out of memory for a JPEG");
    unsigned char* bytes = nullptr;  // TurboJPEG allocates, also when it fails
    unsigned long size = 0;
    const int failed =
        tjCompress2(handle.get(), reinterpret_cast<const unsigned char*>(view.pixels), view.size.width,
                    static_cast<int>(view.stride * sizeof(Pixel)), view.size.height, TJPF_BGRX, &bytes, &size,
                    quality >= kFullColourFrom ? TJSAMP_444 : TJSAMP_420, quality, TJFLAG_FASTDCT);
    const Buffer owned{bytes};
    if (failed != 0)
        return fail(Errc::Internal, fmt::format("cannot make a JPEG: {}", tjGetErrorStr2(handle.get())));
    return std::string{reinterpret_cast<const char*>(bytes), size};
}

}  // namespace dormouse::display

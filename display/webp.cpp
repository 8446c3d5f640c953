// SPDX-License-Identifier: Apache-2.0
#include "display/webp.h"

#include <webp/encode.h>

#include <memory>

#include "display/raw_pixels.h"

namespace dormouse::display {

namespace {

// 0 (fast) to 6 (small).
constexpr int kMethod = 1;

struct FreePicture {
    void operator()(WebPPicture* picture) const noexcept { WebPPictureFree(picture); }
};

int append(const std::uint8_t* data, std::size_t size, const WebPPicture* picture) {
    auto& file = *static_cast<std::string*>(picture->custom_ptr);
    try {
        file.append(reinterpret_cast<const char*>(data), size);
    } catch (...) {  // libwebp is C: nothing may pass through it
        return 0;
    }
    return 1;
}

}  // namespace

Result<std::string> encode_webp(const ImageView& view, int quality) {
    if (view.size.empty() || view.size.width > kMaxSide || view.size.height > kMaxSide)
        return fail(Errc::InvalidArgument,
                    fmt::format("cannot make a WebP of {} by {} pixels", view.size.width, view.size.height));
    WebPConfig config;
    WebPPicture picture;
    if (WebPConfigPreset(&config, WEBP_PRESET_TEXT, static_cast<float>(quality)) == 0 ||
        WebPPictureInit(&picture) == 0)
        return fail(Errc::Internal, "another version of libwebp than the one built with");
    const std::unique_ptr<WebPPicture, FreePicture> owned{&picture};
    config.method = kMethod;
    picture.width = view.size.width;
    picture.height = view.size.height;
    if (WebPPictureImportBGRX(&picture, reinterpret_cast<const std::uint8_t*>(view.pixels),
                              static_cast<int>(view.stride * sizeof(Pixel))) == 0)
        return fail(Errc::Internal, "out of memory for a WebP");
    std::string file;
    picture.writer = append;
    picture.custom_ptr = &file;
    if (WebPEncode(&config, &picture) == 0)
        return fail(Errc::Internal, fmt::format("cannot make a WebP: libwebp's error {}",
                                                static_cast<int>(picture.error_code)));
    return file;
}

}  // namespace dormouse::display

// SPDX-License-Identifier: Apache-2.0
#include "decode.h"

#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>
#include <webp/decode.h>

#include <cmath>
#include <limits>
#include <random>

namespace dormouse::display::testing {

namespace {

void make_opaque(Image& image) {
    for (int y = 0; y < image.size().height; ++y)
        for (auto& pixel : image.row(y)) pixel |= 0xff000000;
}

}  // namespace

Image decode_png(const std::string& file) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_memory(&png, file.data(), file.size()) == 0) {
        ADD_FAILURE() << png.message;
        return {};
    }
    EXPECT_EQ(png.format & PNG_FORMAT_FLAG_ALPHA, 0U);
    png.format = PNG_FORMAT_BGRA;
    Image image{{static_cast<int>(png.width), static_cast<int>(png.height)}};
    EXPECT_NE(png_image_finish_read(&png, nullptr, image.row(0).data(), 0, nullptr), 0) << png.message;
    EXPECT_EQ(png.warning_or_error, 0U) << png.message;
    return image;
}

Image decode_jpeg(const std::string& file) {
    const auto handle = tjInitDecompress();
    const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
    int width = 0, height = 0, sampling = 0, colours = 0;
    if (tjDecompressHeader3(handle, bytes, file.size(), &width, &height, &sampling, &colours) != 0) {
        ADD_FAILURE() << tjGetErrorStr2(handle);
        tjDestroy(handle);
        return {};
    }
    Image image{{width, height}};
    EXPECT_EQ(tjDecompress2(handle, bytes, file.size(), reinterpret_cast<unsigned char*>(image.row(0).data()),
                            width, 0, height, TJPF_BGRX, 0),
              0)
        << tjGetErrorStr2(handle);
    tjDestroy(handle);
    make_opaque(image);
    return image;
}

Image decode_webp(const std::string& file) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
    int width = 0, height = 0;
    if (WebPGetInfo(bytes, file.size(), &width, &height) == 0) {
        ADD_FAILURE() << "not a WebP";
        return {};
    }
    Image image{{width, height}};
    EXPECT_NE(
        WebPDecodeBGRAInto(bytes, file.size(), reinterpret_cast<std::uint8_t*>(image.row(0).data()),
                           static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4, width * 4),
        nullptr);
    return image;
}

double distance(const Image& a, const Image& b) {
    if (a.size() != b.size() || a.empty()) return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (int y = 0; y < a.size().height; ++y) {
        for (int x = 0; x < a.size().width; ++x) {
            for (const int shift : {0, 8, 16}) {
                const auto left = static_cast<int>((a.at(x, y) >> shift) & 0xff);
                const auto right = static_cast<int>((b.at(x, y) >> shift) & 0xff);
                sum += (left - right) * (left - right);
            }
        }
    }
    return std::sqrt(sum / (3.0 * a.size().width * a.size().height));
}

Image noise(Size size, unsigned seed) {
    std::mt19937 random{seed};
    Image image{size};
    for (int y = 0; y < size.height; ++y)
        for (auto& pixel : image.row(y)) pixel = 0xff000000 | (random() & 0xffffff);
    return image;
}

Image screen_like(Size size) {
    Image image{size, 0xffffffff};
    for (int y = 0; y < size.height; ++y) {
        auto row = image.row(y);
        for (int x = 0; x < size.width; ++x) {
            auto& pixel = row[static_cast<std::size_t>(x)];
            if (y < size.height / 4)
                pixel = 0xff000000 | static_cast<Pixel>(x * 255 / size.width) << 16 | 0x4060U;
            else if (y % 16 < 9 && x % 9 < 2)
                pixel = 0xff202020;
        }
    }
    return image;
}

}  // namespace dormouse::display::testing

// SPDX-License-Identifier: Apache-2.0
#include "display/png.h"

#include <gtest/gtest.h>
#include <png.h>

#include <random>

namespace dormouse::display {
namespace {

// By libpng, which has nothing in common with the encoder.
Image decode(const std::string& file) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    EXPECT_NE(png_image_begin_read_from_memory(&png, file.data(), file.size()), 0) << png.message;
    EXPECT_EQ(png.format, static_cast<png_uint_32>(PNG_FORMAT_RGB));
    png.format = PNG_FORMAT_BGRA;
    Image image{{static_cast<int>(png.width), static_cast<int>(png.height)}};
    EXPECT_NE(png_image_finish_read(&png, nullptr, image.row(0).data(), 0, nullptr), 0) << png.message;
    EXPECT_EQ(png.warning_or_error, 0U) << png.message;
    return image;
}

Image noise(Size size, unsigned seed) {
    std::mt19937 random{seed};
    Image image{size};
    for (int y = 0; y < size.height; ++y)
        for (auto& pixel : image.row(y)) pixel = 0xff000000 | (random() & 0xffffff);
    return image;
}

TEST(Png, GivesBackEachPixelOfAFlatPicture) {
    const Image image{{1280, 800}, 0xff336699};
    const auto file = encode_png(image.view());
    ASSERT_TRUE(file);
    EXPECT_EQ(decode(*file), image);
    EXPECT_LT(file->size(), 8000U);
}

TEST(Png, GivesBackEachPixelOfNoise) {
    for (const Size size : {Size{1, 1}, Size{1, 300}, Size{300, 1}, Size{2, 2}, Size{641, 479}}) {
        const auto image = noise(size, 7);
        const auto file = encode_png(image.view());
        ASSERT_TRUE(file);
        EXPECT_EQ(decode(*file), image) << size.width << "x" << size.height;
    }
}

TEST(Png, GivesBackEachPixelWhereTextAndPhotosShareThePicture) {
    auto image = noise({400, 300}, 3);
    for (int y = 0; y < 300; ++y) {
        auto row = image.row(y);
        const std::size_t flat = y < 100 ? 400 : y < 200 ? 150 : 0;  // rows of each filter, and their borders
        std::fill_n(row.begin(), flat, y % 7 == 0 ? 0xff000000 : 0xffffffff);
        for (auto& pixel : row.subspan(flat))
            pixel = 0xff000000 | ((pixel & 0x0f0f0f) + static_cast<Pixel>(y % 128));
    }
    const auto file = encode_png(image.view());
    ASSERT_TRUE(file);
    EXPECT_EQ(decode(*file), image);
}

TEST(Png, EncodesAPartOfAPicture) {
    const auto image = noise({100, 80}, 5);
    const auto file = encode_png(image.view().part({30, 20, 17, 9}));
    ASSERT_TRUE(file);
    const auto part = decode(*file);
    ASSERT_EQ(part.size(), (Size{17, 9}));
    EXPECT_EQ(part.at(0, 0), image.at(30, 20));
    EXPECT_EQ(part.at(16, 8), image.at(46, 28));
}

TEST(Png, RefusesAPictureWithoutPixels) {
    EXPECT_EQ(encode_png(Image{}.view()).error().code, Errc::InvalidArgument);
    EXPECT_EQ(encode_png({nullptr, {10, 0}, 10}).error().code, Errc::InvalidArgument);
    EXPECT_EQ(encode_png({nullptr, {100'000, 1}, 100'000}).error().code, Errc::InvalidArgument);
}

}  // namespace
}  // namespace dormouse::display

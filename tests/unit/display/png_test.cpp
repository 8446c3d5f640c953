// SPDX-License-Identifier: Apache-2.0
#include "display/png.h"

#include <gtest/gtest.h>

#include "decode.h"

namespace dormouse::display {
namespace {

using testing::noise;

Image decode(const std::string& file) {
    return testing::decode_png(file);
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

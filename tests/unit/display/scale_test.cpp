// SPDX-License-Identifier: Apache-2.0
#include "display/scale.h"

#include <gtest/gtest.h>

#include "decode.h"

namespace dormouse::display {
namespace {

using testing::distance;
using testing::noise;

TEST(Scale, SameSizeGivesTheSamePicture) {
    const auto image = noise({37, 21}, 1);
    EXPECT_EQ(scale_image(image.view(), {37, 21}), image);
}

TEST(Scale, FlatPictureStaysFlatInAnySize) {
    const Image image{{100, 70}, 0xff6699cc};
    for (const Size size : {Size{1, 1}, Size{33, 69}, Size{99, 70}, Size{100, 1}, Size{251, 300}}) {
        const auto scaled = scale_image(image.view(), size);
        EXPECT_EQ(scaled, (Image{size, 0xff6699cc})) << size.width << "x" << size.height;
    }
}

TEST(Scale, HalfIsTheAverageOfFourPixels) {
    Image image{{4, 2}, 0xff000000};
    image.row(0)[0] = 0xffff0000;
    image.row(0)[2] = image.row(0)[3] = image.row(1)[2] = image.row(1)[3] = 0xff0000ff;
    const auto half = scale_image(image.view(), {2, 1});
    EXPECT_EQ(half.at(0, 0), 0xff400000);  // 255 / 4, rounded
    EXPECT_EQ(half.at(1, 0), 0xff0000ff);
}

TEST(Scale, PixelsOnABorderCountByTheShareThatIsCovered) {
    Image image{{3, 1}, 0xff000000};
    image.row(0)[1] = 0xff0000c8;  // 200: half of it belongs to each side
    const auto scaled = scale_image(image.view(), {2, 1});
    EXPECT_EQ(scaled.at(0, 0), 0xff000043);  // 200 * 0.5 / 1.5
    EXPECT_EQ(scaled.at(1, 0), 0xff000043);
}

TEST(Scale, ThinLineDoesNotVanish) {
    Image image{{1000, 10}, 0xffffffff};
    for (int y = 0; y < 10; ++y) image.row(y)[501] = 0xff000000;
    const auto scaled = scale_image(image.view(), {250, 10});
    EXPECT_EQ(scaled.at(125, 5), 0xffbfbfbf);
}

TEST(Scale, WholePicturesBrightnessIsKept) {
    const auto image = noise({640, 480}, 9);
    const auto one = scale_image(image.view(), {1, 1});
    for (const int shift : {0, 8, 16}) EXPECT_NEAR((one.at(0, 0) >> shift) & 0xff, 127.5, 2);
}

TEST(Scale, LargerGoesEvenlyFromPixelToPixelAndKeepsTheBorders) {
    Image image{{2, 1}, 0xff000000};
    image.row(0)[1] = 0xff0000ff;
    const auto larger = scale_image(image.view(), {8, 3});
    for (int y = 0; y < 3; ++y) {
        EXPECT_EQ(larger.at(0, y), 0xff000000);
        EXPECT_EQ(larger.at(7, y), 0xff0000ff);
        for (int x = 1; x < 8; ++x) EXPECT_GE(larger.at(x, y), larger.at(x - 1, y));
    }
}

TEST(Scale, TakesAPartOfAPicture) {
    auto image = noise({50, 50}, 2);
    for (int y = 10; y < 20; ++y)
        for (int x = 20; x < 40; ++x) image.row(y)[static_cast<std::size_t>(x)] = 0xff123456;
    EXPECT_EQ(scale_image(image.view().part({20, 10, 20, 10}), {7, 3}), (Image{{7, 3}, 0xff123456}));
}

}  // namespace
}  // namespace dormouse::display

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "decode.h"
#include "display/jpeg.h"
#include "display/webp.h"

namespace dormouse::display {
namespace {

struct Format {
    const char* name;
    Result<std::string> (*encode)(const ImageView&, int);
    Image (*decode)(const std::string&);
};
const Format kFormats[] = {{"jpeg", encode_jpeg, testing::decode_jpeg},
                           {"webp", encode_webp, testing::decode_webp}};

class LossyFormats : public ::testing::TestWithParam<Format> {};

TEST_P(LossyFormats, LookLikeThePictureThatWentIn) {
    const auto image = testing::screen_like({640, 400});
    const auto file = GetParam().encode(image.view(), 80);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_LT(testing::distance(GetParam().decode(*file), image), 12);
}

TEST_P(LossyFormats, MoreQualityIsMoreBytesAndLessLoss) {
    const auto image = testing::screen_like({640, 400});
    const auto poor = GetParam().encode(image.view(), 10);
    const auto good = GetParam().encode(image.view(), 95);
    ASSERT_TRUE(poor && good);
    EXPECT_LT(poor->size(), good->size());
    EXPECT_LT(testing::distance(GetParam().decode(*good), image),
              testing::distance(GetParam().decode(*poor), image));
}

TEST_P(LossyFormats, KeepRedRedAndBlueBlue) {
    for (const Pixel colour : {0xffff0000, 0xff00ff00, 0xff0000ff}) {
        const Image image{{33, 17}, colour};
        for (const int quality : {1, 50, 100}) {
            const auto file = GetParam().encode(image.view(), quality);
            ASSERT_TRUE(file);
            EXPECT_LT(testing::distance(GetParam().decode(*file), image), 40) << quality;
        }
    }
}

TEST_P(LossyFormats, TakeAnyPartAndAnySize) {
    const auto image = testing::noise({101, 77}, 3);
    for (const Rect part : {Rect{100, 76, 1, 1}, Rect{3, 5, 17, 9}, Rect{0, 0, 101, 1}}) {
        const auto file = GetParam().encode(image.view().part(part), 90);
        ASSERT_TRUE(file);
        EXPECT_EQ(GetParam().decode(*file).size(), (Size{part.width, part.height}));
    }
}

TEST_P(LossyFormats, RefuseAPictureWithoutPixels) {
    EXPECT_EQ(GetParam().encode(Image{}.view(), 80).error().code, Errc::InvalidArgument);
    EXPECT_EQ(GetParam().encode({nullptr, {10, 0}, 10}, 80).error().code, Errc::InvalidArgument);
    EXPECT_EQ(GetParam().encode({nullptr, {100'000, 1}, 100'000}, 80).error().code, Errc::InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Each, LossyFormats, ::testing::ValuesIn(kFormats),
                         [](const auto& each) { return std::string{each.param.name}; });

}  // namespace
}  // namespace dormouse::display

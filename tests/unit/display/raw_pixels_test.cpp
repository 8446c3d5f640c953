// SPDX-License-Identifier: Apache-2.0
#include "display/raw_pixels.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "pictures.h"

namespace dormouse::display {
namespace {

using testing::Picture;

TEST(RawPixels, AcceptsAPictureWithPaddedRowsAndAnUnpaddedLastOne) {
    const std::vector<std::byte> bytes(16 * 2 + 12);
    EXPECT_TRUE((RawPixels{3, 3, 16, kPixmanX8R8G8B8, bytes}.check()));
    EXPECT_FALSE((RawPixels{3, 3, 16, kPixmanX8R8G8B8, std::span{bytes}.first(bytes.size() - 1)}.check()));
}

TEST(RawPixels, RefusesSizesThatNoScreenHas) {
    const std::vector<std::byte> bytes(64);
    constexpr auto kMax = std::numeric_limits<std::uint32_t>::max();
    for (const auto& [width, height] :
         {std::pair<std::int64_t, std::int64_t>{0, 1}, {1, 0}, {-1, 4}, {4, -1}})
        EXPECT_EQ((RawPixels{width, height, 16, kPixmanX8R8G8B8, bytes}.check().error().code),
                  Errc::InvalidArgument);
    for (const auto& [width, height] :
         {std::pair<std::int64_t, std::int64_t>{8193, 1}, {1, 8193}, {kMax, kMax}})
        EXPECT_EQ((RawPixels{width, height, kMax, kPixmanX8R8G8B8, bytes}.check().error().code),
                  Errc::TooLarge);
}

TEST(RawPixels, RefusesAStrideThatDoesNotHoldARowAndOneBeyondTheBytes) {
    const std::vector<std::byte> bytes(64);
    EXPECT_FALSE((RawPixels{4, 4, 15, kPixmanX8R8G8B8, bytes}.check()));
    EXPECT_FALSE((RawPixels{4, 4, 0, kPixmanX8R8G8B8, bytes}.check()));
    EXPECT_TRUE((RawPixels{4, 4, 16, kPixmanX8R8G8B8, bytes}.check()));
    // 2^32 - 4 times 8191 rows: must not wrap around to something small.
    EXPECT_FALSE((RawPixels{1, 8192, 0xfffffffc, kPixmanX8R8G8B8, bytes}.check()));
    EXPECT_FALSE((RawPixels{1, 2, 0xffffffff, kPixmanX8R8G8B8, bytes}.check()));
}

TEST(RawPixels, RefusesFormatsItDoesNotKnow) {
    const std::vector<std::byte> bytes(64);
    for (const std::uint32_t format : {0U, 0x10020565U, 0x18020888U, 0xffffffffU})
        EXPECT_EQ((RawPixels{4, 4, 16, format, bytes}.check().error().code), Errc::InvalidArgument);
}

TEST(RawReader, GivesTheSamePixelsFromEveryFormat) {
    struct Case {
        std::uint32_t format;
        std::array<unsigned char, 4> memory;  // of red 0x11, green 0x22, blue 0x33
    };
    const Case cases[] = {
        {kPixmanX8R8G8B8, {0x33, 0x22, 0x11, 0x00}}, {kPixmanA8R8G8B8, {0x33, 0x22, 0x11, 0x80}},
        {kPixmanX8B8G8R8, {0x11, 0x22, 0x33, 0x00}}, {kPixmanA8B8G8R8, {0x11, 0x22, 0x33, 0x80}},
        {kPixmanB8G8R8X8, {0x00, 0x11, 0x22, 0x33}}, {kPixmanB8G8R8A8, {0x80, 0x11, 0x22, 0x33}},
        {kPixmanR8G8B8X8, {0x00, 0x33, 0x22, 0x11}}, {kPixmanR8G8B8A8, {0x80, 0x33, 0x22, 0x11}},
    };
    for (const auto& [format, memory] : cases) {
        Pixel pixel = 0;
        RawReader{{1, 1, 4, format, std::as_bytes(std::span{memory})}}.read(0, 0, std::span{&pixel, 1});
        EXPECT_EQ(pixel, 0xff112233) << std::hex << format;
    }
}

TEST(RawReader, ReadsBytesThatAreNotAligned) {
    Picture picture{3, 2, 0};
    picture.set(1, 1, 0x00abcdef);
    std::vector<std::byte> shifted(picture.pixels.size() * 4 + 1);
    std::memcpy(shifted.data() + 1, picture.pixels.data(), picture.pixels.size() * 4);
    auto raw = picture.raw();
    raw.data = std::span{shifted}.subspan(1);
    std::array<Pixel, 2> row{};
    RawReader{raw}.read(1, 1, row);
    EXPECT_EQ(row, (std::array<Pixel, 2>{0xffabcdef, 0xff000000}));
}

}  // namespace
}  // namespace dormouse::display

// SPDX-License-Identifier: Apache-2.0
#include "display/still.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <stdexcept>
#include <thread>

#include "decode.h"
#include "pictures.h"

namespace dormouse::display {
namespace {

using testing::decode_png;
using testing::noise;
using testing::Picture;

Still made_of(std::string bytes, const Snapshot& snapshot) {
    Still still;
    still.bytes = std::make_shared<const std::string>(std::move(bytes));
    still.size = snapshot.image.size();
    still.generation = snapshot.generation;
    return still;
}

class StillCacheTest : public ::testing::Test {
  protected:
    void show(int width, int height, Pixel fill) {
        ASSERT_TRUE(framebuffer.replace(Picture{width, height, fill}.raw()));
    }
    StillCache::Maker counting() {
        return [this](const Snapshot& snapshot, const CursorState&, const StillOptions&) -> Result<Still> {
            return made_of("png " + std::to_string(++encodings), snapshot);
        };
    }

    SystemClock clock;
    Framebuffer framebuffer{clock};
    int encodings = 0;
};

TEST_F(StillCacheTest, IsUnavailableBeforeTheFirstPicture) {
    StillCache stills{framebuffer};
    EXPECT_EQ(stills.newest().error().code, Errc::Unavailable);
    EXPECT_EQ(stills.newest_if_ready().error().code, Errc::Unavailable);
}

TEST_F(StillCacheTest, EncodesEachGenerationOnce) {
    StillCache stills{framebuffer, counting()};
    show(8, 8, 1);
    EXPECT_FALSE(stills.newest_if_ready());
    const auto first = stills.newest();
    EXPECT_EQ(*first->bytes, "png 1");
    EXPECT_EQ(stills.newest()->bytes, first->bytes);
    EXPECT_EQ(stills.newest_if_ready()->bytes, first->bytes);
    show(8, 8, 1);  // nothing changed
    EXPECT_EQ(stills.newest()->bytes, first->bytes);
    show(8, 9, 2);
    EXPECT_FALSE(stills.newest_if_ready());
    const auto second = stills.newest();
    EXPECT_EQ(*second->bytes, "png 2");
    EXPECT_EQ(second->size, (Size{8, 9}));
    EXPECT_EQ(second->generation, 2U);
}

TEST_F(StillCacheTest, KeepsOneForEachOfAFewOptions) {
    StillCache stills{framebuffer, counting()};
    show(8, 8, 1);
    StillOptions small;
    small.scale = 0.5;
    const auto whole = stills.newest();
    const auto half = stills.newest(small);
    EXPECT_NE(whole->bytes, half->bytes);
    EXPECT_EQ(stills.newest()->bytes, whole->bytes);
    EXPECT_EQ(stills.newest_if_ready(small)->bytes, half->bytes);
    EXPECT_EQ(encodings, 2);
    // Newer ones push out the oldest.
    for (int i = 1; i <= static_cast<int>(StillCache::kKept); ++i) {
        StillOptions limited;
        limited.max_width = i;
        ASSERT_TRUE(stills.newest(limited));
    }
    EXPECT_FALSE(stills.newest_if_ready());
}

TEST_F(StillCacheTest, ForgetsPicturesOfOlderGenerations) {
    StillCache stills{framebuffer, counting()};
    show(8, 8, 1);
    const std::weak_ptr<const std::string> old = stills.newest()->bytes;
    show(8, 8, 2);
    StillOptions other;
    other.scale = 0.5;
    ASSERT_TRUE(stills.newest(other));
    EXPECT_TRUE(old.expired());
}

TEST_F(StillCacheTest, MovedPointerMattersOnlyToPicturesThatShowIt) {
    StillCache stills{framebuffer, counting()};
    show(8, 8, 1);
    StillOptions with_cursor;
    with_cursor.cursor = true;
    ASSERT_TRUE(stills.newest());
    ASSERT_TRUE(stills.newest(with_cursor));
    framebuffer.set_cursor_position(3, 3, true);
    EXPECT_TRUE(stills.newest_if_ready());
    EXPECT_FALSE(stills.newest_if_ready(with_cursor));
    ASSERT_TRUE(stills.newest(with_cursor));
    EXPECT_EQ(encodings, 3);
}

TEST_F(StillCacheTest, TagsStandForTheVeryPicture) {
    StillCache stills{framebuffer, counting()};
    show(8, 8, 1);
    StillOptions small, with_cursor;
    small.scale = 0.5;
    with_cursor.cursor = true;
    const auto first = stills.newest()->tag;
    EXPECT_EQ(stills.newest()->tag, first);
    EXPECT_EQ(stills.newest_if_ready()->tag, first);
    std::set<std::string> tags{first, stills.newest(small)->tag, stills.newest(with_cursor)->tag};
    framebuffer.set_cursor_position(1, 1, true);
    tags.insert(stills.newest(with_cursor)->tag);
    show(8, 8, 2);
    tags.insert(stills.newest()->tag);
    StillCache after_a_restart{framebuffer, counting()};
    tags.insert(after_a_restart.newest()->tag);
    EXPECT_EQ(tags.size(), 6U);
    for (const auto& tag : tags) EXPECT_EQ(tag.find_first_of("\" ,"), std::string::npos) << tag;
}

TEST_F(StillCacheTest, CallersOfOneGenerationShareOneEncoding) {
    std::atomic<int> made{0};
    std::promise<void> begun, go_on;
    auto may_go_on = go_on.get_future().share();
    StillCache stills{
        framebuffer,
        [&](const Snapshot& snapshot, const CursorState&, const StillOptions& options) -> Result<Still> {
            if (options.scale != 1) return made_of("small", snapshot);
            ++made;
            begun.set_value();
            may_go_on.wait();
            return made_of("png", snapshot);
        }};
    show(8, 8, 1);
    auto first = std::async(std::launch::async, [&] { return stills.newest(); });
    begun.get_future().wait();
    std::vector<std::future<Result<Still>>> others;
    for (int i = 0; i < 4; ++i)
        others.push_back(std::async(std::launch::async, [&] { return stills.newest(); }));
    StillOptions small;
    small.scale = 0.5;
    EXPECT_EQ(*stills.newest(small)->bytes, "small");  // waits for nobody
    go_on.set_value();
    const auto still = first.get();
    for (auto& other : others) EXPECT_EQ(other.get()->bytes, still->bytes);
    EXPECT_EQ(made, 1);
}

TEST_F(StillCacheTest, FailedEncodingIsAnErrorAndTriedAgain) {
    int calls = 0;
    StillCache stills{
        framebuffer, [&](const Snapshot& snapshot, const CursorState&, const StillOptions&) -> Result<Still> {
            if (++calls == 1) throw std::runtime_error("out of paper");
            if (calls == 2) return fail(Errc::Io, "out of ink");
            return made_of("png", snapshot);
        }};
    show(8, 8, 1);
    EXPECT_EQ(stills.newest().error().code, Errc::Internal);
    EXPECT_EQ(stills.newest().error().code, Errc::Io);
    EXPECT_EQ(*stills.newest()->bytes, "png");
}

class MakeStill : public ::testing::Test {
  protected:
    Snapshot snapshot{noise({120, 80}, 1), 7, {}};
    CursorState cursor;
    StillOptions options;
};

TEST_F(MakeStill, GivesTheWholeScreenAsItIs) {
    const auto still = make_still(snapshot, cursor, options);
    ASSERT_TRUE(still);
    EXPECT_EQ(decode_png(*still->bytes), snapshot.image);
    EXPECT_EQ(still->size, (Size{120, 80}));
    EXPECT_EQ(still->region, (Rect{0, 0, 120, 80}));
    EXPECT_EQ(still->screen, (Size{120, 80}));
    EXPECT_EQ(still->generation, 7U);
}

TEST_F(MakeStill, CutsOutARegionToItsLastPixel) {
    options.region = Rect{119, 70, 1, 10};
    const auto still = make_still(snapshot, cursor, options);
    ASSERT_TRUE(still);
    const auto image = decode_png(*still->bytes);
    ASSERT_EQ(image.size(), (Size{1, 10}));
    for (int y = 0; y < 10; ++y) EXPECT_EQ(image.at(0, y), snapshot.image.at(119, 70 + y));
}

TEST_F(MakeStill, DrawsThePointerAndLeavesTheScreenAsItWas) {
    auto shape = std::make_shared<CursorShape>();
    shape->image = Image{{4, 4}, 0xff00ff00};
    shape->hot_x = shape->hot_y = 1;
    cursor = {shape, 50, 40, true, true, false, 3};
    options.cursor = true;
    options.region = Rect{40, 30, 20, 20};
    const auto kept = snapshot.image;
    const auto still = make_still(snapshot, cursor, options);
    ASSERT_TRUE(still);
    EXPECT_EQ(still->cursor, CursorDrawn::Drawn);
    EXPECT_TRUE(snapshot.image == kept);
    const auto image = decode_png(*still->bytes);
    EXPECT_EQ(image.at(8, 8), kept.at(48, 38));
    EXPECT_EQ(image.at(9, 9), 0xff00ff00);
    EXPECT_EQ(image.at(12, 12), 0xff00ff00);
    EXPECT_EQ(image.at(13, 13), kept.at(53, 43));
    options.region = Rect{0, 0, 20, 20};
    EXPECT_EQ(make_still(snapshot, cursor, options)->cursor, CursorDrawn::Outside);
}

TEST_F(MakeStill, GoesDownInQualityAndThenInSizeUntilItFits) {
    snapshot.image = noise({400, 300}, 5);
    options.format = ImageFormat::Jpeg;
    const auto whole = make_still(snapshot, cursor, options);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->quality, kJpegQuality);
    options.max_bytes = whole->bytes->size();
    EXPECT_EQ(make_still(snapshot, cursor, options)->quality, kJpegQuality);
    options.max_bytes = whole->bytes->size() - 1;
    const auto less = make_still(snapshot, cursor, options);
    EXPECT_LT(less->quality, kJpegQuality);
    EXPECT_EQ(less->size, (Size{400, 300}));
    options.max_bytes = 8000;
    const auto small = make_still(snapshot, cursor, options);
    ASSERT_TRUE(small);
    EXPECT_LE(small->bytes->size(), 8000U);
    EXPECT_LT(small->size.width, 400);
    EXPECT_GT(small->bytes->size(), 2000U) << "much smaller than it had to be";
    EXPECT_NEAR(double(small->size.width) / small->size.height, 4.0 / 3, 0.05);
}

TEST_F(MakeStill, LosslessPictureFitsBySizeAlone) {
    options.max_bytes = 5000;
    const auto still = make_still(snapshot, cursor, options);
    ASSERT_TRUE(still);
    EXPECT_LE(still->bytes->size(), 5000U);
    EXPECT_EQ(still->quality, 0);
    EXPECT_EQ(decode_png(*still->bytes).size(), still->size);
}

TEST_F(MakeStill, SaysWhatWasReachedWhenNothingFits) {
    options.max_bytes = 40;
    for (const auto format : {ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Webp}) {
        options.format = format;
        const auto still = make_still(snapshot, cursor, options);
        ASSERT_FALSE(still);
        EXPECT_EQ(still.error().code, Errc::InvalidArgument);
        EXPECT_NE(still.error().message.find("max_bytes=40"), std::string::npos) << still.error().message;
        EXPECT_NE(still.error().message.find(" bytes"), std::string::npos);
        EXPECT_FALSE(still.error().hint.empty());
    }
}

}  // namespace
}  // namespace dormouse::display

// SPDX-License-Identifier: Apache-2.0
#include "display/still.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

#include "pictures.h"

namespace dormouse::display {
namespace {

using testing::Picture;

class StillTest : public ::testing::Test {
  protected:
    SystemClock clock;
    Framebuffer framebuffer{clock};
};

TEST_F(StillTest, IsUnavailableBeforeTheFirstPicture) {
    StillCache stills{framebuffer};
    EXPECT_EQ(stills.newest().error().code, Errc::Unavailable);
    EXPECT_EQ(stills.newest_if_ready().error().code, Errc::Unavailable);
}

TEST_F(StillTest, EncodesEachGenerationOnce) {
    int encodings = 0;
    StillCache stills{framebuffer, [&](const ImageView&) -> Result<std::string> {
                          return "png " + std::to_string(++encodings);
                      }};
    ASSERT_TRUE(framebuffer.replace(Picture{8, 8, 1}.raw()));
    EXPECT_FALSE(stills.newest_if_ready());
    const auto first = stills.newest();
    EXPECT_EQ(*first->bytes, "png 1");
    EXPECT_EQ(stills.newest()->bytes, first->bytes);
    EXPECT_EQ(stills.newest_if_ready()->bytes, first->bytes);
    ASSERT_TRUE(framebuffer.replace(Picture{8, 8, 1}.raw()));  // nothing changed
    EXPECT_EQ(stills.newest()->bytes, first->bytes);
    ASSERT_TRUE(framebuffer.replace(Picture{8, 9, 2}.raw()));
    EXPECT_FALSE(stills.newest_if_ready());
    const auto second = stills.newest();
    EXPECT_EQ(*second->bytes, "png 2");
    EXPECT_EQ(second->size, (Size{8, 9}));
    EXPECT_EQ(second->generation, 2U);
}

TEST_F(StillTest, CallersOfOneGenerationShareOneEncoding) {
    std::atomic<int> encodings{0};
    std::promise<void> begun, go_on;
    auto may_go_on = go_on.get_future().share();
    StillCache stills{framebuffer, [&](const ImageView&) -> Result<std::string> {
                          ++encodings;
                          begun.set_value();
                          may_go_on.wait();
                          return std::string{"png"};
                      }};
    ASSERT_TRUE(framebuffer.replace(Picture{8, 8, 1}.raw()));
    auto first = std::async(std::launch::async, [&] { return stills.newest(); });
    begun.get_future().wait();
    std::vector<std::future<Result<Still>>> others;
    for (int i = 0; i < 4; ++i)
        others.push_back(std::async(std::launch::async, [&] { return stills.newest(); }));
    go_on.set_value();
    const auto still = first.get();
    for (auto& other : others) EXPECT_EQ(other.get()->bytes, still->bytes);
    EXPECT_EQ(encodings, 1);
}

TEST_F(StillTest, FailedEncodingIsAnErrorAndTriedAgain) {
    int calls = 0;
    StillCache stills{framebuffer, [&](const ImageView&) -> Result<std::string> {
                          if (++calls == 1) throw std::runtime_error("out of paper");
                          if (calls == 2) return fail(Errc::Io, "out of ink");
                          return std::string{"png"};
                      }};
    ASSERT_TRUE(framebuffer.replace(Picture{8, 8, 1}.raw()));
    EXPECT_EQ(stills.newest().error().code, Errc::Internal);
    EXPECT_EQ(stills.newest().error().code, Errc::Io);
    EXPECT_EQ(*stills.newest()->bytes, "png");
}

}  // namespace
}  // namespace dormouse::display

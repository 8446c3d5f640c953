// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/rate_limiter.h"

#include <gtest/gtest.h>

namespace dormouse::api {
namespace {

using namespace std::chrono_literals;

class RateLimiterTest : public testing::Test {
  protected:
    static LimitsConfig limits() {
        LimitsConfig limits;
        limits.requests_per_second = 2;
        limits.burst = 3;
        limits.concurrent = 0;
        return limits;
    }
    bool passes(const std::string& token) {
        if (limiter_.enter(token)) return false;
        limiter_.leave(token);
        return true;
    }

    ManualClock clock_;
    RateLimiter limiter_{clock_, limits()};
};

TEST_F(RateLimiterTest, LetsABurstThroughAndThenSoManyASecond) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(passes("t-1"));
    const auto refusal = limiter_.enter("t-1");
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->retry_after, 1s);
    EXPECT_TRUE(passes("t-2")) << "another token is another matter";
    clock_.advance(500ms);
    EXPECT_TRUE(passes("t-1"));
    EXPECT_FALSE(passes("t-1"));
    clock_.advance(1h);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(passes("t-1"));
    EXPECT_FALSE(passes("t-1")) << "never more than a burst";
}

TEST_F(RateLimiterTest, SaysHowLongToWaitWhereItIsLong) {
    auto slow = limits();
    slow.requests_per_second = 0.1;
    slow.burst = 1;
    RateLimiter limiter{clock_, slow};
    EXPECT_FALSE(limiter.enter("t-1"));
    EXPECT_EQ(limiter.enter("t-1")->retry_after, 10s);
}

TEST_F(RateLimiterTest, CountsWhatIsInProgress) {
    LimitsConfig few;
    few.requests_per_second = 0;
    few.concurrent = 2;
    RateLimiter limiter{clock_, few};
    EXPECT_FALSE(limiter.enter("t-1"));
    EXPECT_FALSE(limiter.enter("t-1"));
    EXPECT_TRUE(limiter.enter("t-1"));
    EXPECT_FALSE(limiter.enter("t-2"));
    limiter.leave("t-1");
    EXPECT_FALSE(limiter.enter("t-1"));
    clock_.advance(1h);
    EXPECT_TRUE(limiter.enter("t-1")) << "what is in progress is not forgotten";
}

TEST_F(RateLimiterTest, WithoutLimitsNobodyIsRefused) {
    LimitsConfig none;
    none.requests_per_second = 0;
    none.concurrent = 0;
    RateLimiter limiter{clock_, none};
    for (int i = 0; i < 10'000; ++i) ASSERT_FALSE(limiter.enter("t-1"));
}

}  // namespace
}  // namespace dormouse::api

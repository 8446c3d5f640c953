// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/body_stream.h"

#include <gtest/gtest.h>

namespace dormouse::wsio {
namespace {

TEST(BodyStream, HoldsWhatIsWrittenUpToItsLimit) {
    BodyStream stream{10};
    EXPECT_TRUE(stream.write("12345"));
    EXPECT_TRUE(stream.write("67890"));
    EXPECT_FALSE(stream.write("x")) << "nothing of it is taken";
    EXPECT_EQ(stream.take(3), "123");
    EXPECT_TRUE(stream.write("abc"));
    EXPECT_EQ(stream.take(100), "4567890abc");
    EXPECT_FALSE(stream.has_more());
}

TEST(BodyStream, WakesTheConnectionOnceUntilAllWasTaken) {
    BodyStream stream{100};
    int woken = 0;
    ASSERT_TRUE(stream.write("early"));
    stream.attach([&] { ++woken; });
    EXPECT_EQ(woken, 1) << "for what was there before";
    ASSERT_TRUE(stream.write("more"));
    EXPECT_EQ(woken, 1);
    EXPECT_EQ(stream.take(100), "earlymore");
    ASSERT_TRUE(stream.write("again"));
    EXPECT_EQ(woken, 2);
    stream.end("!");
    EXPECT_EQ(woken, 3);
    EXPECT_FALSE(stream.ended());
    EXPECT_EQ(stream.take(100), "again!");
    EXPECT_TRUE(stream.ended());
    EXPECT_FALSE(stream.write("late"));
}

TEST(BodyStream, TellsOnceThatNobodyReads) {
    BodyStream stream{100};
    int told = 0;
    stream.on_closed([&] { ++told; });
    ASSERT_TRUE(stream.write("x"));
    stream.close();
    stream.close();
    EXPECT_EQ(told, 1);
    EXPECT_TRUE(stream.closed());
    EXPECT_FALSE(stream.write("y"));
    EXPECT_EQ(stream.take(10), "");
    stream.on_closed([&] { ++told; });
    EXPECT_EQ(told, 2) << "at once, when it is late";
}

TEST(BodyStream, TakesTheLastWordsWhateverTheirSize) {
    BodyStream stream{2};
    ASSERT_TRUE(stream.write("ab"));
    stream.end(": too slow\n\n");
    EXPECT_EQ(stream.take(100), "ab: too slow\n\n");
}

}  // namespace
}  // namespace dormouse::wsio

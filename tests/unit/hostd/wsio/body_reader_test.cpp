// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/body_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace dormouse::wsio {
namespace {

using State = BodyReader::State;

// Feeds one byte at a time, to be sure that no state hangs on how bytes arrive.
std::size_t feed_bytewise(BodyReader& reader, std::string_view bytes) {
    std::size_t used = 0;
    while (used < bytes.size() && reader.feed(bytes.substr(used, 1)) == 1) ++used;
    return used;
}

std::string fault_of_chunks(std::string_view bytes, std::size_t limit = 1000) {
    auto reader = BodyReader::chunked(limit);
    feed_bytewise(reader, bytes);
    return reader.state() == State::Failed ? std::to_string(reader.fault().status) : "none";
}

TEST(BodyReader, TakesExactlyTheBytesOfContentLength) {
    auto reader = BodyReader::with_length(5, 100);
    EXPECT_EQ(reader.feed("helloGET /"), 5u);
    EXPECT_EQ(reader.state(), State::Done);
    EXPECT_EQ(reader.take(), "hello");
    EXPECT_EQ(reader.feed("more"), 0u);
}

TEST(BodyReader, IsDoneAtOnceWithoutABody) {
    EXPECT_EQ(BodyReader{}.state(), State::Done);
    EXPECT_EQ(BodyReader::with_length(0, 100).state(), State::Done);
}

TEST(BodyReader, RefusesATooLongBodyBeforeReadingIt) {
    const auto reader = BodyReader::with_length(101, 100);
    EXPECT_EQ(reader.state(), State::Failed);
    EXPECT_EQ(reader.fault().status, 413);
}

TEST(BodyReader, JoinsChunksAndLeavesTheNextRequestAlone) {
    const std::string_view body = "5\r\nhello\r\n00A;name=\"v\"\r\n, dormouse\r\n0\r\nTrailer: x\r\n\r\n";
    auto whole = BodyReader::chunked(100);
    EXPECT_EQ(whole.feed(std::string{body} + "GET / HTTP/1.1"), body.size());
    EXPECT_EQ(whole.state(), State::Done);
    EXPECT_EQ(whole.take(), "hello, dormouse");

    auto bytewise = BodyReader::chunked(100);
    EXPECT_EQ(feed_bytewise(bytewise, std::string{body} + "GET / HTTP/1.1"), body.size());
    EXPECT_EQ(bytewise.take(), "hello, dormouse");
}

TEST(BodyReader, RefusesChunksThatTwoParsersCouldReadDifferently) {
    EXPECT_EQ(fault_of_chunks("\r\n"), "400");
    EXPECT_EQ(fault_of_chunks(";x\r\n"), "400");
    EXPECT_EQ(fault_of_chunks("-5\r\n"), "400");
    EXPECT_EQ(fault_of_chunks("0x5\r\n"), "400");
    EXPECT_EQ(fault_of_chunks(" 5\r\n"), "400");
    EXPECT_EQ(fault_of_chunks("5 \r\n"), "400");
    EXPECT_EQ(fault_of_chunks("5\nhello"), "400");
    EXPECT_EQ(fault_of_chunks("5\r\nhello0\r\n"), "400");
    EXPECT_EQ(fault_of_chunks("5\r\nhello\n0\r\n"), "400");
    EXPECT_EQ(fault_of_chunks("5;a\nb\r\n"), "400");
    EXPECT_EQ(fault_of_chunks("00000000000000005\r\n"), "400");
    EXPECT_EQ(fault_of_chunks("0\r\n\rX"), "400");
}

TEST(BodyReader, StopsAtTheLimitOverAllChunks) {
    EXPECT_EQ(fault_of_chunks("FFFFFFFFFFFFFFFF\r\n"), "413");
    EXPECT_EQ(fault_of_chunks("3\r\nabc\r\n3\r\nabc\r\n", 5), "413");
    EXPECT_EQ(fault_of_chunks("3\r\nabc\r\n2\r\nab\r\n0\r\n\r\n", 5), "none");
}

TEST(BodyReader, StopsReadingEndlessExtensionsAndTrailers) {
    EXPECT_EQ(fault_of_chunks("1;" + std::string(5000, 'x')), "400");
    EXPECT_EQ(fault_of_chunks("0\r\n" + std::string(5000, 'x')), "400");
}

TEST(BodyReader, KnowsWhetherTheEndOfInputIsTheEndOfTheBody) {
    auto until_close = BodyReader::until_close(10);
    EXPECT_EQ(until_close.feed("0123456789"), 10u);
    until_close.end_of_input();
    EXPECT_EQ(until_close.state(), State::Done);

    auto too_long = BodyReader::until_close(10);
    too_long.feed("0123456789a");
    EXPECT_EQ(too_long.fault().status, 413);

    auto cut = BodyReader::with_length(5, 10);
    cut.feed("abc");
    cut.end_of_input();
    EXPECT_EQ(cut.state(), State::Failed);
}

}  // namespace
}  // namespace dormouse::wsio

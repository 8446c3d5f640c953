// SPDX-License-Identifier: Apache-2.0
#include "guest/protocol/frame_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "guest/protocol/crc32.h"
#include "hostd/base/file.h"

namespace dormouse::guest {
namespace {

using testing::ElementsAre;

std::vector<Frame> sample_frames() {
    return {
        {FrameType::Hello, 0, 0x01020304, 0, 0,
         R"({"host_version":"0.1.0","time_unix_ns":1700000000000000000})"},
        {FrameType::Open, kFlagMore, 0x01020304, 1, 0, R"({"method":"pi)"},
        {FrameType::Open, 0, 0x01020304, 1, 1, R"(ng","params":{}})"},
        {FrameType::Data, 0, 0xfffefdfc, 3, 70000,
         std::string("\xdb"
                     "DRM\x01\x02\0\0",
                     8)},
        {FrameType::Cancel, 0, 1, 5, 2, {}},
    };
}

std::string encode_all(const std::vector<Frame>& frames) {
    std::string bytes;
    for (const auto& frame : frames) bytes += encode_frame(frame);
    return bytes;
}

// Feeds pieces and remembers what came out.
struct Receiver {
    FrameDecoder decoder;
    std::vector<Frame> frames;
    void feed(std::string_view bytes) {
        decoder.feed(bytes, [this](Frame frame) { frames.push_back(std::move(frame)); });
    }
};

TEST(Crc32, HasTheCheckValueOfItsStandard) {
    EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
    EXPECT_EQ(crc32(""), 0u);
    EXPECT_EQ(crc32("6789", crc32("12345")), 0xcbf43926u);
}

TEST(FrameDecoder, GivesBackWhatWasEncoded) {
    Receiver receiver;
    receiver.feed(encode_all(sample_frames()));
    EXPECT_EQ(receiver.frames, sample_frames());
    EXPECT_FALSE(receiver.decoder.partial());
    EXPECT_EQ(receiver.decoder.bytes_skipped(), 0u);
}

TEST(FrameDecoder, TakesFramesCutAtEveryByte) {
    const auto bytes = encode_all(sample_frames());
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        Receiver receiver;
        receiver.feed(std::string_view{bytes}.substr(0, cut));
        receiver.feed(std::string_view{bytes}.substr(cut));
        ASSERT_EQ(receiver.frames, sample_frames()) << "cut at " << cut;
    }
}

TEST(FrameDecoder, TakesOneByteAtATime) {
    Receiver receiver;
    for (const char byte : encode_all(sample_frames())) receiver.feed({&byte, 1});
    EXPECT_EQ(receiver.frames, sample_frames());
}

TEST(FrameDecoder, FindsFramesBetweenGarbage) {
    const std::string_view garbage{
        "noise \xdb\xdb"
        "DR\xdb"
        "DRM \0\xff",
        16};
    std::string bytes{garbage};
    for (const auto& frame : sample_frames()) bytes += encode_frame(frame) + std::string{garbage};
    Receiver whole;
    whole.feed(bytes);
    EXPECT_EQ(whole.frames, sample_frames());
    EXPECT_EQ(whole.decoder.bytes_skipped(), 6 * garbage.size());
    Receiver single;
    for (const char byte : bytes) single.feed({&byte, 1});
    EXPECT_EQ(single.frames, sample_frames());
}

TEST(FrameDecoder, FindsTheNextFrameAfterOneThatWasCutOffAnywhere) {
    const auto first = encode_frame(sample_frames()[0]);
    const auto rest = encode_all({sample_frames()[1], sample_frames()[2]});
    // Enough to fill up the frame whose end never came.
    std::string more;
    for (int i = 0; i < 10; ++i) more += rest;
    for (std::size_t cut = 0; cut < first.size(); ++cut) {
        Receiver receiver;
        receiver.feed(first.substr(0, cut) + more);
        ASSERT_EQ(receiver.frames.size(), 20u) << "cut at " << cut;
    }
}

TEST(FrameDecoder, DropsAFrameOfWhichAnyBitIsWrongAndGoesOn) {
    const auto good = encode_frame(sample_frames()[4]);
    const auto bytes = encode_frame(sample_frames()[2]);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (int bit = 0; bit < 8; ++bit) {
            auto wrong = bytes;
            wrong[i] = static_cast<char>(static_cast<unsigned char>(wrong[i]) ^ (1u << bit));
            Receiver receiver;
            receiver.feed(wrong);
            // A longer length swallows what follows until it is disproved.
            for (int round = 0; round < 3000 && receiver.frames.empty(); ++round) receiver.feed(good);
            ASSERT_FALSE(receiver.frames.empty()) << "byte " << i << " bit " << bit;
            ASSERT_EQ(receiver.frames[0], sample_frames()[4]) << "byte " << i << " bit " << bit;
        }
    }
}

TEST(FrameDecoder, TakesTheLongestPayloadAndRefusesALongerOne) {
    const Frame longest{FrameType::Data, 0, 1, 1, 0, std::string(kMaxPayload, 'x')};
    auto bytes = encode_frame(longest);
    Receiver receiver;
    receiver.feed(bytes);
    EXPECT_THAT(receiver.frames, ElementsAre(longest));

    bytes[20] = 1;  // 65,537
    Receiver refusing;
    refusing.feed(bytes.substr(0, kHeaderSize));
    EXPECT_LT(refusing.decoder.buffered(), kHeaderSize);
}

TEST(FrameDecoder, SkipsTypesAndVersionsThatItDoesNotKnow) {
    for (const std::size_t offset : {4u, 5u}) {
        for (const int value : {0, 10, 255}) {
            auto bytes = encode_frame(sample_frames()[4]);
            bytes[offset] = static_cast<char>(value);
            // With a right CRC, as a newer peer would send it.
            std::string crc;
            append_u32(crc, crc32(std::string_view{bytes}.substr(0, 24)));
            bytes.replace(24, 4, crc);
            Receiver receiver;
            receiver.feed(bytes + encode_frame(sample_frames()[4]));
            EXPECT_THAT(receiver.frames, ElementsAre(sample_frames()[4]));
        }
    }
}

TEST(FrameDecoder, KeepsLittleWhateverComes) {
    Receiver receiver;
    auto header =
        encode_frame({FrameType::Data, 0, 1, 1, 0, std::string(kMaxPayload, 'x')}).substr(0, kHeaderSize);
    std::string flood;
    while (flood.size() < 1 << 20) flood += header;
    for (int i = 0; i < 4; ++i) {
        receiver.feed(flood);
        EXPECT_LE(receiver.decoder.buffered(), 2 * kMaxFrame);
    }
    EXPECT_TRUE(receiver.frames.empty());
    // Each header claims 64 KiB. If each were believed, 9 GB would be summed up.
    EXPECT_LT(receiver.decoder.bad_crcs(), 4u * 8 * 20);
}

TEST(FrameDecoder, DropsTheRestWhenTheSinkClearsIt) {
    FrameDecoder decoder;
    int seen = 0;
    decoder.feed(encode_all(sample_frames()), [&](const Frame&) {
        ++seen;
        decoder.clear();
    });
    EXPECT_EQ(seen, 1);
    EXPECT_FALSE(decoder.partial());
}

TEST(FrameDecoder, RescuesAHelloFromWithinAnUnfinishedFrame) {
    const auto unfinished =
        encode_frame({FrameType::Data, 0, 7, 1, 0, std::string(5000, 'x')}).substr(0, 1000);
    const auto hello = sample_frames()[0];
    Receiver receiver;
    const auto sink = [&](Frame frame) { receiver.frames.push_back(std::move(frame)); };
    receiver.feed(unfinished + encode_frame(sample_frames()[1]));
    EXPECT_FALSE(receiver.decoder.rescue(sink));
    receiver.feed(encode_frame(hello) + encode_frame(sample_frames()[4]));
    EXPECT_TRUE(receiver.frames.empty());
    EXPECT_TRUE(receiver.decoder.rescue(sink));
    EXPECT_THAT(receiver.frames, ElementsAre(hello, sample_frames()[4]));
    EXPECT_FALSE(receiver.decoder.partial());
}

// The form of frames never changes unnoticed: agents in old images speak it.
TEST(FrameDecoder, KeepsTheFormInTheGoldenFiles) {
    const std::filesystem::path folder = DORMOUSE_SOURCE_DIR "/tests/unit/guest/protocol/golden";
    const std::vector<std::pair<std::string, Frame>> golden{
        {"hello.bin", sample_frames()[0]},
        {"open_first.bin", sample_frames()[1]},
        {"open_last.bin", sample_frames()[2]},
        {"data.bin", sample_frames()[3]},
        {"cancel.bin", sample_frames()[4]},
        {"hello_ack.bin",
         {FrameType::HelloAck, 0, 0x01020304, 0, 0,
          R"({"agent_version":"0.1.0","boot_id":"b","methods":["ping"],"time_unix_ns":1})"}},
        {"window.bin", {FrameType::Window, 0, 9, 1, 4, std::string("\0\0\2\0", 4)}},
        {"close_result.bin", {FrameType::Close, 0, 9, 1, 5, R"({"result":{}})"}},
        {"close_error.bin",
         {FrameType::Close, 0, 9, 1, 6, R"({"error":{"code":"not_found","message":"no"}})"}},
        {"ping.bin", {FrameType::Ping, 0, 9, 0, 7, "ab"}},
        {"pong.bin", {FrameType::Pong, 0, 9, 0, 8, "ab"}},
        {"ask_for_hello.bin", {FrameType::Hello, 0, 0, 0, 0, {}}},
    };
    const bool write = std::getenv("DORMOUSE_WRITE_GOLDEN") != nullptr;
    for (const auto& [name, frame] : golden) {
        if (write) {
            ASSERT_TRUE(write_file_atomic(folder / name, encode_frame(frame), 0644));
        }
        const auto bytes = read_file(folder / name);
        ASSERT_TRUE(bytes) << name;
        EXPECT_EQ(*bytes, encode_frame(frame)) << name;
        Receiver receiver;
        receiver.feed(*bytes);
        EXPECT_THAT(receiver.frames, ElementsAre(frame)) << name;
    }
}

}  // namespace
}  // namespace dormouse::guest

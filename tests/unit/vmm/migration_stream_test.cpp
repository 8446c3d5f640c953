// SPDX-License-Identifier: Apache-2.0
#include "vmm/migration_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/vmm/stream_bytes.h"

namespace dormouse::vmm {
namespace {

using test::MapSink;
using test::small_limits;
using test::StreamBytes;
using test::usual_stream;
using testing::HasSubstr;

struct Split {
    Result<MachineState> state;
    MapSink sink;
};

Split split(const std::vector<std::byte>& stream, std::size_t chunk = 1 << 20,
            StreamLimits limits = small_limits()) {
    MapSink sink;
    StreamSplitter splitter{sink, limits};
    for (std::size_t at = 0; at < stream.size(); at += chunk) {
        auto fed = splitter.feed(std::span{stream}.subspan(at, std::min(chunk, stream.size() - at)));
        if (!fed) return {fail(fed.error()), sink};
    }
    return {splitter.finish(), sink};
}

void expect_usual(const Split& done) {
    ASSERT_TRUE(done.state) << done.state.error().message;
    EXPECT_EQ(done.state->machine_type, "pc-q35-7.2");
    EXPECT_EQ(done.state->main_length, 4 * kPageSize);
    EXPECT_EQ(done.state->ram_section_id, 2u);
    ASSERT_EQ(done.state->roms.size(), 1u);
    const auto& rom = done.state->roms[0];
    EXPECT_EQ(rom.name, "pc.bios");
    ASSERT_EQ(rom.contents.size(), 2 * kPageSize);
    EXPECT_EQ(rom.contents[kPageSize - 1], std::byte{0});
    EXPECT_EQ(rom.contents[kPageSize], std::byte{0xcc});
    EXPECT_EQ(done.state->device_sections, StreamBytes{}.devices().bytes);
    const std::map<std::uint64_t, int> pages{{0, 0}, {0x1000, 0xaa}, {0x2000, 0xbb}, {0x3000, 0}};
    EXPECT_EQ(done.sink.pages, pages);
}

// The stream is refused as corrupt, in one piece and byte by byte alike.
void expect_corrupt(const std::vector<std::byte>& stream, const std::string& why) {
    for (const std::size_t chunk : {std::size_t{1} << 20, std::size_t{1}}) {
        const auto done = split(stream, chunk);
        ASSERT_FALSE(done.state) << why;
        EXPECT_EQ(done.state.error().code, Errc::Corrupt);
        EXPECT_THAT(done.state.error().message, HasSubstr(why));
    }
}

TEST(StreamSplitter, TakesAWholeStreamApart) {
    expect_usual(split(usual_stream()));
}

TEST(StreamSplitter, DoesNotCareHowTheBytesAreCut) {
    const auto stream = usual_stream();
    for (const std::size_t chunk : {1, 2, 3, 7, 9, 4095, 4096, 4097, 4360, 4361, 9000}) {
        SCOPED_TRACE(chunk);
        expect_usual(split(stream, chunk));
    }
}

TEST(StreamSplitter, RefusesAStreamCutAtAnyByte) {
    const auto stream = usual_stream();
    const auto devices = StreamBytes{}.devices().bytes.size();
    for (std::size_t length = 0; length < stream.size(); ++length) {
        const auto done = split({stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(length)});
        // A zero byte within device state looks like the end: only QEMU can tell.
        const bool may_look_whole = length > stream.size() - devices && stream[length - 1] == std::byte{0};
        if (may_look_whole) continue;
        ASSERT_FALSE(done.state) << "cut at " << length;
        EXPECT_EQ(done.state.error().code, Errc::Corrupt);
    }
}

TEST(StreamSplitter, ExpandsAPageFilledWithOneByte) {
    StreamBytes s;
    s.header().ram_start().usual_blocks().close().end();
    s.be64(0x1000 | 0x02).text("pc.ram").u8(0x5a).be64(0x02).text("pc.bios").u8(0x5b).close().devices();
    const auto done = split(s.bytes);
    ASSERT_TRUE(done.state);
    EXPECT_EQ(done.sink.pages.at(0x1000), 0x5a);
    EXPECT_EQ(done.state->roms[0].contents[kPageSize - 1], std::byte{0x5b});
}

TEST(StreamSplitter, LeavesARomWithoutContentsWhenAllOfItIsZero) {
    StreamBytes s;
    s.header().ram_start().usual_blocks().close().end().be64(0x02).text("pc.bios").u8(0).close().devices();
    const auto done = split(s.bytes);
    ASSERT_TRUE(done.state);
    EXPECT_TRUE(done.state->roms[0].contents.empty());
    EXPECT_EQ(done.state->roms[0].length, 2 * kPageSize);
}

TEST(StreamSplitter, PassesOnTheErrorOfTheSinkAndStaysFailed) {
    class FullDisk final : public PageSink {
        Result<> on_page(std::uint64_t, std::span<const std::byte>) override {
            return fail(Errc::Io, "disk full");
        }
        Result<> on_zero(std::uint64_t) override { return {}; }
    } sink;
    StreamSplitter splitter{sink, small_limits()};
    const auto stream = usual_stream();
    EXPECT_EQ(splitter.feed(stream).error().code, Errc::Io);
    EXPECT_EQ(splitter.feed(stream).error().message, "disk full");
    EXPECT_EQ(splitter.finish().error().code, Errc::Io);
}

TEST(StreamSplitter, RefusesWhatIsNoStreamOfVersion3) {
    expect_corrupt(StreamBytes{}.be64(0x1234).bytes, "does not begin as one");
    expect_corrupt(StreamBytes{}.be32(0x5145564d).be32(2).bytes, "version 2");
    expect_corrupt(StreamBytes{}.be32(0x5145564d).be32(3).u8(1).bytes, "no configuration section");
    expect_corrupt(StreamBytes{}.be32(0x5145564d).be32(3).u8(7).be32(1 << 30).bytes, "machine type of");
    expect_corrupt(StreamBytes{}.header("pc\nq35").bytes, "is not a name");
}

TEST(StreamSplitter, NamesTheCapabilitySubsectionItDoesNotKnow) {
    expect_corrupt(StreamBytes{}.header().u8(5).text("configuration/capabilities").be32(1).bytes,
                   "configuration/capabilities");
}

TEST(StreamSplitter, RefusesSectionsThatAreNotExpected) {
    expect_corrupt(StreamBytes{}.header().u8(4).bytes, "where RAM must start");
    expect_corrupt(StreamBytes{}.header().u8(1).be32(1).text("block").be32(0).be32(1).bytes, "\"block\"");
    expect_corrupt(StreamBytes{}.header().u8(1).be32(1).text("ram").be32(0).be32(3).bytes, "version 3");
    StreamBytes ram;
    ram.header().ram_start().usual_blocks().close();
    expect_corrupt(StreamBytes{ram}.u8(4).be32(3).bytes, "before the end of RAM");
    expect_corrupt(StreamBytes{ram}.part(5).bytes, "not the RAM section");
    expect_corrupt(StreamBytes{ram}.part().close(7).bytes, "footer");
}

TEST(StreamSplitter, NamesTheRecordsItDoesNotSupport) {
    StreamBytes ram;
    ram.header().ram_start().usual_blocks().close().part();
    expect_corrupt(StreamBytes{ram}.be64(0x1000 | 0x40).bytes, "XBZRLE");
    expect_corrupt(StreamBytes{ram}.be64(0x80).bytes, "HOOK");
    expect_corrupt(StreamBytes{ram}.be64(0x100).bytes, "COMPRESS");
    expect_corrupt(StreamBytes{ram}.be64(0x800).bytes, "unknown flags");
    expect_corrupt(StreamBytes{ram}.be64(0x08 | 0x02).bytes, "flags 0xa");
    expect_corrupt(StreamBytes{ram}.be64(0).bytes, "flags 0x0");
}

TEST(StreamSplitter, RefusesPagesOutsideTheListedBlocks) {
    StreamBytes ram;
    ram.header().ram_start().usual_blocks().close().part();
    expect_corrupt(StreamBytes{ram}.be64(0x08 | 0x20).filled_page(1).bytes, "names no block");
    expect_corrupt(StreamBytes{ram}.be64(0x08).text("vga.vram").bytes, "\"vga.vram\"");
    expect_corrupt(StreamBytes{ram}.be64(0x4000 | 0x02).text("pc.ram").u8(0).bytes, "beyond the end");
    expect_corrupt(StreamBytes{ram}.be64(0x2000 | 0x02).text("pc.bios").u8(0).bytes, "beyond the end");
    expect_corrupt(StreamBytes{}.header().ram_start().be64(0x02).text("pc.ram").u8(0).bytes, "\"pc.ram\"");
    expect_corrupt(StreamBytes{}.header().ram_start().close().bytes, "without a list");
}

TEST(StreamSplitter, HoldsItsLimitsAgainstTheListOfBlocks) {
    StreamBytes list;
    list.header().ram_start();
    const auto pages = [](std::uint64_t count) { return count * kPageSize; };
    expect_corrupt(StreamBytes{list}.be64(0x04).bytes, "empty list");
    expect_corrupt(StreamBytes{list}.be64(pages(5) | 4).text("pc.ram").be64(pages(5)).bytes,
                   "main memory of");
    expect_corrupt(StreamBytes{list}.be64(pages(17) | 4).text("pc.rom").be64(pages(17)).bytes,
                   "beside main memory");
    expect_corrupt(StreamBytes{list}.be64(pages(1) | 4).text("pc.rom").be64(pages(2)).bytes, "of 8192 bytes");
    expect_corrupt(StreamBytes{list}.be64(pages(2) | 4).text("pc.rom").be64(100).bytes, "of 100 bytes");
    expect_corrupt(StreamBytes{list}.be64(pages(2) | 4).text("pc.rom").be64(0).bytes, "of 0 bytes");
    expect_corrupt(StreamBytes{list}.be64(pages(1) | 4).text("").be64(pages(1)).bytes, "without a name");
    expect_corrupt(StreamBytes{list}.be64(pages(1) | 4).text("pc.rom").be64(pages(1)).bytes,
                   "no block \"pc.ram\"");
    expect_corrupt(
        StreamBytes{list}.be64(pages(2) | 4).text("a").be64(pages(1)).text("a").be64(pages(1)).bytes,
        "twice");
    StreamBytes many = list;
    many.be64(pages(9) | 4);
    for (const auto* name : {"a", "b", "c", "d", "e"}) many.text(name).be64(pages(1));
    expect_corrupt(many.bytes, "more than 4 blocks");
    expect_corrupt(StreamBytes{list}.usual_blocks().be64(pages(1) | 4).bytes, "second list");
}

TEST(StreamSplitter, RefusesDeviceStateThatIsMissingTooLongOrCutOff) {
    StreamBytes ram;
    ram.header().ram_start().usual_blocks().close().end().close();
    expect_corrupt(ram.bytes, "without device state");
    expect_corrupt(StreamBytes{ram}.u8(0).bytes, "without device state");
    expect_corrupt(StreamBytes{ram}.u8(2).u8(0).bytes, "section type 0x2");
    // With the description that suppress-vmdesc=on leaves out, the last byte is the end of its JSON.
    expect_corrupt(StreamBytes{ram}.devices().u8(6).text("{}").bytes, "suppress-vmdesc");
    auto limits = small_limits();
    limits.device_bytes = 10;
    const auto done = split(usual_stream(), 1, limits);
    ASSERT_FALSE(done.state);
    EXPECT_THAT(done.state.error().message, HasSubstr("10 bytes of device state"));
}

}  // namespace
}  // namespace dormouse::vmm

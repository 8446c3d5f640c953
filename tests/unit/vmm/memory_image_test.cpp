// SPDX-License-Identifier: Apache-2.0
#include "vmm/memory_image.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "hostd/base/file.h"
#include "hostd/base/random.h"
#include "hostd/base/unique_fd.h"
#include "tests/unit/vmm/stream_bytes.h"
#include "vmm/migration_stream.h"

namespace dormouse::vmm {
namespace {

namespace fs = std::filesystem;
using test::MapSink;
using test::small_limits;
using test::StreamBytes;
using test::usual_stream;
using testing::HasSubstr;

constexpr std::uint64_t kRam = 4 * kPageSize;

class MemoryImageTest : public testing::Test {
  protected:
    MemoryImageTest() { fs::create_directories(folder_); }
    ~MemoryImageTest() override { fs::remove_all(folder_); }

    // Writes the stream into a pipe from another thread, in small pieces.
    Result<MemoryImage> split(const std::vector<std::byte>& stream, std::uint64_t ram = kRam) {
        int ends[2];
        EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        UniqueFd reader{ends[0]};
        std::jthread feeder{[&stream, fd = ends[1]] {
            const UniqueFd writer{fd};
            for (std::size_t at = 0; at < stream.size(); at += 1000) {
                const auto piece = std::min<std::size_t>(1000, stream.size() - at);
                if (::write(writer.get(), stream.data() + at, piece) < 0) return;
            }
        }};
        return split_into_image(reader.get(), folder_, ram);
    }
    std::string contents(const char* name) { return read_file(folder_ / name).value_or("(none)"); }
    void poke(const char* name, long offset, char value) {
        const UniqueFd file{::open((folder_ / name).c_str(), O_WRONLY | O_CLOEXEC)};
        ASSERT_EQ(::pwrite(file.get(), &value, 1, offset), 1);
    }

    fs::path folder_ = fs::temp_directory_path() / ("memory-image-" + random_hex(6));
};

TEST_F(MemoryImageTest, PutsThePagesOfMainMemoryAtTheirOffsets) {
    const auto image = split(usual_stream());
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(image->machine_type, "pc-q35-7.2");
    EXPECT_EQ(image->base.size, kRam);
    const std::string zero(kPageSize, '\0');
    EXPECT_EQ(contents(kBaseFile),
              zero + std::string(kPageSize, '\xaa') + std::string(kPageSize, '\xbb') + zero);
    EXPECT_EQ(image->base.digest.size(), 64u);
    EXPECT_NE(image->base.digest, image->wake.digest);
}

TEST_F(MemoryImageTest, LeavesAHoleWhereAPageIsZero) {
    const auto image = split(usual_stream());
    ASSERT_TRUE(image);
    const UniqueFd file{::open((folder_ / kBaseFile).c_str(), O_RDONLY | O_CLOEXEC)};
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_DATA), 0x1000);
    EXPECT_EQ(::lseek(file.get(), 0x1000, SEEK_HOLE), 0x3000);
}

TEST_F(MemoryImageTest, KeepsAllTheRestAsAStreamWithoutMainPages) {
    const auto image = split(usual_stream());
    ASSERT_TRUE(image);
    const auto wake = contents(kWakeFile);
    EXPECT_EQ(image->wake.size, wake.size());
    MapSink pages;
    StreamSplitter splitter{pages, small_limits()};
    ASSERT_TRUE(splitter.feed(std::as_bytes(std::span{wake})));
    const auto state = splitter.finish();
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_TRUE(pages.pages.empty());
    EXPECT_EQ(state->roms.at(0).contents.at(kPageSize), std::byte{0xcc});
    EXPECT_EQ(state->device_sections, StreamBytes{}.devices().bytes);
}

TEST_F(MemoryImageTest, ReadsAPlainFileAsWell) {
    const auto stream = usual_stream();
    ASSERT_TRUE(
        write_file_atomic(folder_ / "stream", {reinterpret_cast<const char*>(stream.data()), stream.size()}));
    const UniqueFd file{::open((folder_ / "stream").c_str(), O_RDONLY | O_CLOEXEC)};
    EXPECT_TRUE(split_into_image(file.get(), folder_, kRam));
}

TEST_F(MemoryImageTest, TakesTheLastOfSeveralRecordsOfAPage) {
    StreamBytes s;
    s.header().ram_start().usual_blocks().close().end();
    s.be64(0x08).text("pc.ram").filled_page(1).be64(0x1000 | 0x28).filled_page(2);
    s.be64(0x0000 | 0x22).u8(0).be64(0x1000 | 0x28).filled_page(3).close().devices();
    ASSERT_TRUE(split(s.bytes));
    EXPECT_EQ(contents(kBaseFile),
              std::string(kPageSize, '\0') + std::string(kPageSize, '\3') + std::string(2 * kPageSize, '\0'));
}

TEST_F(MemoryImageTest, LeavesNeitherFileWhenTheStreamIsBad) {
    auto stream = usual_stream();
    stream.resize(stream.size() / 2);
    EXPECT_EQ(split(stream).error().code, Errc::Corrupt);
    EXPECT_TRUE(fs::is_empty(folder_));
    EXPECT_EQ(split(usual_stream(), 8 * kPageSize).error().code, Errc::Corrupt);
    EXPECT_TRUE(fs::is_empty(folder_));
    EXPECT_EQ(split(usual_stream(), 2 * kPageSize).error().code, Errc::Corrupt);
    EXPECT_EQ(split_into_image(-1, folder_, 100).error().code, Errc::InvalidArgument);
}

TEST_F(MemoryImageTest, CanBeCancelledWhileNothingComes) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd reader{ends[0]};
    const UniqueFd writer{ends[1]};
    int asked = 0;
    const auto image = split_into_image(reader.get(), folder_, kRam, [&] { return ++asked == 2; });
    EXPECT_EQ(image.error().code, Errc::Interrupted);
    EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(MemoryImageTest, IsVerifiedByItsDigests) {
    const auto image = split(usual_stream());
    ASSERT_TRUE(image);
    EXPECT_TRUE(verify_image(folder_, *image));
    poke(kBaseFile, 0x1234, 'x');
    EXPECT_THAT(verify_image(folder_, *image).error().message, HasSubstr(kBaseFile));
    poke(kBaseFile, 0x1234, '\xaa');
    EXPECT_TRUE(verify_image(folder_, *image));
    poke(kBaseFile, 0x3fff, 'x');  // in what was a hole
    EXPECT_EQ(verify_image(folder_, *image).error().code, Errc::Corrupt);
    poke(kBaseFile, 0x3fff, '\0');  // no hole any more, but the same bytes
    EXPECT_TRUE(verify_image(folder_, *image));
    poke(kWakeFile, 100, '\x55');
    EXPECT_THAT(verify_image(folder_, *image).error().message, HasSubstr(kWakeFile));
    ASSERT_EQ(::truncate((folder_ / kBaseFile).c_str(), 0x3000), 0);
    EXPECT_THAT(verify_image(folder_, *image).error().message, HasSubstr("12288 bytes instead of 16384"));
}

TEST_F(MemoryImageTest, MakesABlankBaseWithoutTakingSpace) {
    const auto path = folder_ / "blank";
    ASSERT_TRUE(create_blank_base(path, 1ull << 30));
    ASSERT_TRUE(create_blank_base(path, 2ull << 30));
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_size, 2ll << 30);
    EXPECT_EQ(info.st_blocks, 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace dormouse::vmm

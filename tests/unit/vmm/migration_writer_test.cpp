// SPDX-License-Identifier: Apache-2.0
#include "vmm/migration_writer.h"

#include <gtest/gtest.h>

#include "tests/unit/vmm/stream_bytes.h"

namespace dormouse::vmm {
namespace {

using test::MapSink;
using test::small_limits;
using test::StreamBytes;

std::vector<std::byte> filled(std::size_t length, int value) {
    return std::vector<std::byte>(length, static_cast<std::byte>(value));
}

MachineState small_machine() {
    MachineState state;
    state.machine_type = "pc-q35-7.2";
    state.main_length = 4 * kPageSize;
    state.ram_section_id = 3;
    auto bios = filled(2 * kPageSize, 0);
    bios.back() = std::byte{0xcc};
    state.roms.push_back(RomBlock{"pc.bios", 2 * kPageSize, bios});
    state.roms.push_back(RomBlock{"/rom@etc/acpi/tables", kPageSize, {}});
    state.device_sections = StreamBytes{}.devices().bytes;
    return state;
}

struct Collected {
    std::vector<std::byte> bytes;
    ByteSink sink() {
        return [this](std::span<const std::byte> more) -> Result<> {
            bytes.insert(bytes.end(), more.begin(), more.end());
            return {};
        };
    }
};

TEST(StreamWriter, WritesTheBytesThatQemuExpects) {
    auto state = small_machine();
    state.roms.pop_back();
    Collected out;
    ASSERT_TRUE(write_stream(state, out.sink()));
    StreamBytes expected;
    expected.header().ram_start(3).usual_blocks().close(3);
    expected.end(3).be64(0x02).text("pc.bios").u8(0).be64(0x1000 | 0x08 | 0x20);
    expected.bytes.insert(expected.bytes.end(), kPageSize - 1, std::byte{0});
    expected.u8(0xcc).close(3).devices();
    EXPECT_EQ(out.bytes, expected.bytes);
}

TEST(StreamWriter, IsReadBackByTheSplitterWithoutAPageOfMainMemory) {
    const auto state = small_machine();
    Collected out;
    ASSERT_TRUE(write_stream(state, out.sink()));
    MapSink pages;
    StreamSplitter splitter{pages, small_limits()};
    ASSERT_TRUE(splitter.feed(out.bytes));
    const auto read = splitter.finish();
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(pages.pages.empty());
    EXPECT_EQ(read->machine_type, state.machine_type);
    EXPECT_EQ(read->main_length, state.main_length);
    EXPECT_EQ(read->ram_section_id, state.ram_section_id);
    EXPECT_EQ(read->device_sections, state.device_sections);
    ASSERT_EQ(read->roms.size(), 2u);
    EXPECT_EQ(read->roms[0].contents, state.roms[0].contents);
    EXPECT_EQ(read->roms[1].name, "/rom@etc/acpi/tables");
    EXPECT_TRUE(read->roms[1].contents.empty());
}

TEST(StreamWriter, CarriesThePagesThatDiffer) {
    const auto state = small_machine();
    Collected out;
    StreamWriter writer{state, out.sink()};
    ASSERT_TRUE(writer.begin());
    ASSERT_TRUE(writer.page(0x3000, filled(kPageSize, 7)));
    ASSERT_TRUE(writer.zero(0));
    ASSERT_TRUE(writer.page(0x1000, filled(kPageSize, 9)));
    ASSERT_TRUE(writer.end());
    MapSink pages;
    StreamSplitter splitter{pages, small_limits()};
    ASSERT_TRUE(splitter.feed(out.bytes));
    ASSERT_TRUE(splitter.finish());
    const std::map<std::uint64_t, int> expected{{0, 0}, {0x1000, 9}, {0x3000, 7}};
    EXPECT_EQ(pages.pages, expected);
}

TEST(StreamWriter, RefusesAPageThatIsNotOfMainMemory) {
    const auto state = small_machine();
    Collected out;
    StreamWriter writer{state, out.sink()};
    ASSERT_TRUE(writer.begin());
    EXPECT_EQ(writer.page(0x4000, filled(kPageSize, 1)).error().code, Errc::InvalidArgument);
    EXPECT_EQ(writer.page(0x1001, filled(kPageSize, 1)).error().code, Errc::InvalidArgument);
    EXPECT_EQ(writer.page(0x1000, filled(12, 1)).error().code, Errc::InvalidArgument);
    EXPECT_EQ(writer.zero(0x4000).error().code, Errc::InvalidArgument);
}

TEST(StreamWriter, RefusesAStateThatMakesNoStream) {
    const auto refused = [](const auto& spoil) {
        auto state = small_machine();
        spoil(state);
        Collected out;
        const auto written = write_stream(state, out.sink());
        return !written && written.error().code == Errc::InvalidArgument && out.bytes.empty();
    };
    EXPECT_TRUE(refused([](MachineState& s) { s.machine_type.clear(); }));
    EXPECT_TRUE(refused([](MachineState& s) { s.main_length = 100; }));
    EXPECT_TRUE(refused([](MachineState& s) { s.roms[0].name = std::string(256, 'x'); }));
    EXPECT_TRUE(refused([](MachineState& s) { s.roms[0].contents.pop_back(); }));
    EXPECT_TRUE(refused([](MachineState& s) { s.device_sections.clear(); }));
    EXPECT_TRUE(refused([](MachineState& s) { s.device_sections.back() = std::byte{1}; }));
}

TEST(StreamWriter, StopsWhenItsOutputFails) {
    const auto state = small_machine();
    int calls = 0;
    const auto written = write_stream(state, [&](std::span<const std::byte>) -> Result<> {
        ++calls;
        return fail(Errc::Io, "the pipe is closed");
    });
    EXPECT_EQ(written.error().message, "the pipe is closed");
    EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace dormouse::vmm

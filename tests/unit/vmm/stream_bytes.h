// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vmm/migration_stream.h"

// Migration streams written out by hand, byte for byte, independent of the
// writer under test.
namespace dormouse::vmm::test {

class StreamBytes {
  public:
    StreamBytes& u8(unsigned value) {
        bytes.push_back(static_cast<std::byte>(value));
        return *this;
    }
    StreamBytes& be32(std::uint32_t value) {
        for (int shift = 24; shift >= 0; shift -= 8) u8(value >> shift & 0xff);
        return *this;
    }
    StreamBytes& be64(std::uint64_t value) {
        return be32(static_cast<std::uint32_t>(value >> 32)).be32(static_cast<std::uint32_t>(value));
    }
    StreamBytes& raw(std::string_view text) {
        for (const char c : text) u8(static_cast<unsigned char>(c));
        return *this;
    }
    StreamBytes& text(std::string_view text) { return u8(static_cast<unsigned>(text.size())).raw(text); }
    StreamBytes& filled_page(unsigned value) {
        bytes.insert(bytes.end(), kPageSize, static_cast<std::byte>(value));
        return *this;
    }

    StreamBytes& header(std::string_view machine = "pc-q35-7.2") {
        be32(0x5145564d).be32(3);
        return u8(7).be32(static_cast<std::uint32_t>(machine.size())).raw(machine);
    }
    StreamBytes& ram_start(std::uint32_t id = 2) { return u8(1).be32(id).text("ram").be32(0).be32(4); }
    StreamBytes& part(std::uint32_t id = 2) { return u8(2).be32(id); }
    StreamBytes& end(std::uint32_t id = 2) { return u8(3).be32(id); }
    StreamBytes& close(std::uint32_t id = 2) { return be64(0x10).u8(0x7e).be32(id); }
    // A list of main memory with four pages and a ROM with two.
    StreamBytes& usual_blocks() {
        be64(6 * kPageSize | 0x04).text("pc.ram").be64(4 * kPageSize);
        return text("pc.bios").be64(2 * kPageSize);
    }
    StreamBytes& devices() {
        return u8(4).be32(9).text("cpu").be32(0).be32(12).raw("\x01state\x7e").be32(9).u8(0);
    }

    std::vector<std::byte> bytes;
};

// A whole one: page 1 of memory is 0xaa, page 2 is 0xbb, the ROM's second page 0xcc.
inline std::vector<std::byte> usual_stream() {
    StreamBytes s;
    s.header().ram_start().usual_blocks().close();
    s.part().be64(0x0000 | 0x02).text("pc.ram").u8(0);
    s.be64(0x1000 | 0x08 | 0x20).filled_page(0xaa).close();
    s.part().be64(0x2000 | 0x08 | 0x20).filled_page(0xbb);  // the block is named in the part before
    s.be64(0x3000 | 0x02 | 0x20).u8(0).close();
    s.end().be64(0x0000 | 0x02).text("pc.bios").u8(0);
    s.be64(0x1000 | 0x08 | 0x20).filled_page(0xcc).close();
    return s.devices().bytes;
}

// Main memory as a map of pages to their first byte; zero pages are told apart.
class MapSink final : public PageSink {
  public:
    Result<> on_page(std::uint64_t offset, std::span<const std::byte> page) override {
        if (page.size() != kPageSize) return fail(Errc::Internal, "not a page");
        pages[offset] = std::to_integer<int>(page[0]);
        return {};
    }
    Result<> on_zero(std::uint64_t offset) override {
        pages[offset] = 0;
        return {};
    }
    std::map<std::uint64_t, int> pages;
};

inline StreamLimits small_limits() {
    StreamLimits limits;
    limits.main_length = 4 * kPageSize;
    limits.blocks = 4;
    limits.rom_bytes = 16 * kPageSize;
    limits.device_bytes = 64 << 10;
    return limits;
}

}  // namespace dormouse::vmm::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/result.h"

// QEMU's migration stream, version 3, in the form that QEMU 7.2 writes with no
// capabilities set and `suppress-vmdesc=on`. migration_writer.h writes it.
//
//   be32 magic, be32 version, configuration section (machine type),
//   "ram" section: START (list of blocks), PART..., END with pages, each with a footer,
//   device sections up to the EOF byte. Their lengths are not in the stream,
//   only QEMU can parse them: they are kept as they are.
namespace dormouse::vmm {

constexpr std::size_t kPageSize = 4096;
// Of kPageSize bytes.
inline bool is_zero_page(std::span<const std::byte> page) {
    static constexpr std::byte kZero[kPageSize]{};
    return std::memcmp(page.data(), kZero, kPageSize) == 0;
}

constexpr std::string_view kMainBlock = "pc.ram";  // the id of the RAM backend, for ever

// How much a stream may make us hold. Beyond it is Errc::Corrupt.
struct StreamLimits {
    std::uint64_t main_length = 0;  // bytes of the main block that the caller has room for
    std::size_t blocks = 64;
    std::uint64_t rom_bytes = 64ull << 20;
    std::uint64_t device_bytes = 512ull << 20;
};

// A RAM block that is not the main one: firmware, ACPI tables, option ROMs.
struct RomBlock {
    std::string name;
    std::uint64_t length = 0;         // bytes, whole pages
    std::vector<std::byte> contents;  // `length` bytes, or none when it is all zero
};

// All of a stopped machine but the contents of its main memory.
struct MachineState {
    std::string machine_type;  // "pc-q35-7.2"
    std::string main_block{kMainBlock};
    std::uint64_t main_length = 0;           // bytes
    std::uint32_t ram_section_id = 2;        // as QEMU numbered it
    std::vector<RomBlock> roms;              // in the order of the stream
    std::vector<std::byte> device_sections;  // with the EOF byte at the end
};

// Takes the main block's pages as they come. An error ends the split with it.
// A page may come more than once; the last one counts.
class PageSink {
  public:
    virtual ~PageSink() = default;
    // `offset` is a multiple of kPageSize within the main block; `page` has
    // kPageSize bytes and is valid during the call.
    virtual Result<> on_page(std::uint64_t offset, std::span<const std::byte> page) = 0;
    virtual Result<> on_zero(std::uint64_t offset) = 0;
};

// Takes a stream apart, fed in chunks of any size. What it says about the
// stream is Errc::Corrupt; bytes from a hostile source do no harm, and memory
// stays within the limits. After an error feed() returns it again. One thread.
class StreamSplitter {
  public:
    StreamSplitter(PageSink& pages, StreamLimits limits);  // `pages` must outlive it

    Result<> feed(std::span<const std::byte> chunk);

    // The stream has ended. Leaves the splitter empty; call it once.
    Result<MachineState> finish();

  private:
    enum class Step { Header, Configuration, FirstSection, BlockList, Section, Records, Footer, Devices };
    class Cursor;

    Result<> feed_checked(std::span<const std::byte> chunk);
    // Each takes one item off the cursor, or leaves it short.
    Result<> take_item(Cursor& in);
    Result<> take_header(Cursor& in);
    Result<> take_configuration(Cursor& in);
    Result<> take_first_section(Cursor& in);
    Result<> take_block(Cursor& in);
    Result<> take_section(Cursor& in);
    Result<> take_record(Cursor& in);
    Result<> take_footer(Cursor& in);
    Result<> begin_block_list(std::uint64_t total);
    Result<> check_record_flags(std::uint64_t flags) const;
    Result<> take_page(Cursor& in, std::size_t block, std::uint64_t offset, std::uint64_t flags);
    Result<> store_page(std::size_t block, std::uint64_t offset, std::span<const std::byte> page);
    Result<> store_fill(std::size_t block, std::uint64_t offset, std::byte value);
    Result<> keep_devices(std::span<const std::byte> bytes);
    std::uint64_t block_length(std::size_t block) const;
    std::size_t find_block(std::string_view name) const;

    static constexpr std::size_t kNoBlock = ~std::size_t{0};
    static constexpr std::size_t kMain = kNoBlock - 1;

    PageSink& pages_;
    StreamLimits limits_;
    MachineState state_;
    Step step_ = Step::Header;
    std::vector<std::byte> carry_;  // the head of an item that is not complete
    std::uint64_t list_left_ = 0;   // bytes of RAM that the block list still has to name
    std::uint64_t rom_bytes_ = 0;
    std::size_t last_block_ = kNoBlock;  // for records without a name, also across sections
    bool has_main_ = false;
    bool ram_ended_ = false;
    Error error_;
    bool failed_ = false;
};

}  // namespace dormouse::vmm

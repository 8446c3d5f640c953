// SPDX-License-Identifier: Apache-2.0
#include "vmm/migration_writer.h"

#include <utility>

#include "vmm/migration_format.h"

namespace dormouse::vmm {

using namespace stream;

namespace {

constexpr std::size_t kBufferSize = 1 << 20;

bool fits_name(const std::string& name) {
    return !name.empty() && name.size() <= 255;
}

}  // namespace

StreamWriter::StreamWriter(const MachineState& state, ByteSink out) : state_(state), out_(std::move(out)) {}

Result<> StreamWriter::check_state() const {
    const auto whole_pages = [](std::uint64_t length) { return length != 0 && length % kPageSize == 0; };
    bool good =
        fits_name(state_.machine_type) && fits_name(state_.main_block) && whole_pages(state_.main_length);
    for (const auto& rom : state_.roms)
        good = good && fits_name(rom.name) && whole_pages(rom.length) &&
               (rom.contents.empty() || rom.contents.size() == rom.length);
    if (!good) return fail(Errc::InvalidArgument, "the machine state has a bad name or length");
    if (state_.device_sections.size() < 2 || std::to_integer<unsigned>(state_.device_sections.back()) != kEof)
        return fail(Errc::InvalidArgument, "the machine state has no whole device sections");
    return {};
}

Result<> StreamWriter::begin() {
    DORMOUSE_TRY(check_state());
    put_32(kMagic);
    put_32(kVersion);
    put_8(kConfiguration);
    put_32(static_cast<std::uint32_t>(state_.machine_type.size()));
    put(std::as_bytes(std::span{state_.machine_type}));

    put_8(kSectionStart);
    put_32(state_.ram_section_id);
    put_text(std::string{kRamSection});
    put_32(kRamInstance);
    put_32(kRamVersion);
    auto total = state_.main_length;
    for (const auto& rom : state_.roms) total += rom.length;
    put_64(total | kFlagSizes);
    put_text(state_.main_block);
    put_64(state_.main_length);
    for (const auto& rom : state_.roms) {
        put_text(rom.name);
        put_64(rom.length);
    }
    put_64(kFlagEnd);
    put_8(kFooter);
    put_32(state_.ram_section_id);

    put_8(kSectionEnd);
    put_32(state_.ram_section_id);
    for (const auto& block : state_.roms) DORMOUSE_TRY(rom(block));
    return {};
}

Result<> StreamWriter::rom(const RomBlock& block) {
    for (std::uint64_t offset = 0; offset < block.length; offset += kPageSize) {
        std::span<const std::byte> content;
        if (!block.contents.empty()) content = std::span{block.contents}.subspan(offset, kPageSize);
        const bool zero_page = content.empty() || is_zero_page(content);
        DORMOUSE_TRY(record(offset, zero_page ? kFlagZero : kFlagPage, block.name));
        if (zero_page)
            put_8(0);
        else
            put(content);
    }
    return flush_if_full();
}

Result<> StreamWriter::record(std::uint64_t offset, std::uint64_t flags, const std::string& block) {
    DORMOUSE_TRY(flush_if_full());
    if (block == last_block_) {
        put_64(offset | flags | kFlagContinue);
    } else {
        put_64(offset | flags);
        put_text(block);
        last_block_ = block;
    }
    return {};
}

Result<> StreamWriter::page(std::uint64_t offset, std::span<const std::byte> page) {
    if (offset % kPageSize != 0 || offset >= state_.main_length || page.size() != kPageSize)
        return fail(Errc::InvalidArgument, fmt::format("no page of main memory: {:#x}", offset));
    DORMOUSE_TRY(record(offset, kFlagPage, state_.main_block));
    put(page);
    return {};
}

Result<> StreamWriter::zero(std::uint64_t offset) {
    if (offset % kPageSize != 0 || offset >= state_.main_length)
        return fail(Errc::InvalidArgument, fmt::format("no page of main memory: {:#x}", offset));
    DORMOUSE_TRY(record(offset, kFlagZero, state_.main_block));
    put_8(0);
    return {};
}

Result<> StreamWriter::end() {
    put_64(kFlagEnd);
    put_8(kFooter);
    put_32(state_.ram_section_id);
    DORMOUSE_TRY(flush());
    return out_(state_.device_sections);
}

Result<> StreamWriter::flush_if_full() {
    if (buffer_.size() < kBufferSize) return {};
    return flush();
}

Result<> StreamWriter::flush() {
    if (buffer_.empty()) return {};
    auto written = out_(buffer_);
    buffer_.clear();
    return written;
}

void StreamWriter::put(std::span<const std::byte> bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void StreamWriter::put_text(const std::string& text) {
    put_8(static_cast<unsigned>(text.size()));
    put(std::as_bytes(std::span{text}));
}

void StreamWriter::put_8(unsigned value) {
    buffer_.push_back(static_cast<std::byte>(value));
}

void StreamWriter::put_32(std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) put_8(value >> shift & 0xff);
}

void StreamWriter::put_64(std::uint64_t value) {
    put_32(static_cast<std::uint32_t>(value >> 32));
    put_32(static_cast<std::uint32_t>(value));
}

Result<> write_stream(const MachineState& state, const ByteSink& out) {
    StreamWriter writer{state, out};
    DORMOUSE_TRY(writer.begin());
    return writer.end();
}

}  // namespace dormouse::vmm

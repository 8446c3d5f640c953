// SPDX-License-Identifier: Apache-2.0
#include "vmm/migration_stream.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "vmm/migration_format.h"

namespace dormouse::vmm {

using namespace stream;

namespace {

// The longest item: a page record with a block name.
constexpr std::size_t kLongestItem = 8 + 1 + 255 + kPageSize;

template <class... Args>
auto corrupt(fmt::format_string<Args...> text, Args&&... args) {
    return fail(Errc::Corrupt, "migration stream: " + fmt::format(text, std::forward<Args>(args)...));
}

// Names come from the stream and go into messages: only plain characters.
std::string printable(std::string_view name) {
    std::string text{name.substr(0, 64)};
    for (auto& c : text)
        if (c < 0x20 || c > 0x7e) c = '?';
    return text;
}

}  // namespace

// Reads one item from the head of what is there. When that is not enough, it
// is `short_of_bytes` and everything read so far is to be read again later.
class StreamSplitter::Cursor {
  public:
    explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::uint64_t number(std::size_t width) {
        std::uint64_t value = 0;
        for (const auto byte : take(width)) value = value << 8 | std::to_integer<std::uint64_t>(byte);
        return value;
    }
    std::uint32_t number_32() { return static_cast<std::uint32_t>(number(4)); }
    std::string_view text(std::size_t length) {
        const auto bytes = take(length);
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    std::string_view short_text() { return text(number(1)); }
    std::span<const std::byte> take(std::size_t count) {
        if (short_ || bytes_.size() - used_ < count) {
            short_ = true;
            return {};
        }
        const auto part = bytes_.subspan(used_, count);
        used_ += count;
        return part;
    }
    bool short_of_bytes() const { return short_; }
    std::size_t used() const { return used_; }

  private:
    std::span<const std::byte> bytes_;
    std::size_t used_ = 0;
    bool short_ = false;
};

StreamSplitter::StreamSplitter(PageSink& pages, StreamLimits limits) : pages_(pages), limits_(limits) {}

Result<> StreamSplitter::feed(std::span<const std::byte> chunk) {
    if (failed_) return fail(error_);
    auto fed = feed_checked(chunk);
    if (!fed) {
        failed_ = true;
        error_ = fed.error();
    }
    return fed;
}

Result<> StreamSplitter::feed_checked(std::span<const std::byte> chunk) {
    while (!chunk.empty()) {
        if (step_ == Step::Devices) return keep_devices(chunk);
        // With the head of an item carried over, just enough is added to
        // complete it, and what the item did not need stays in the chunk.
        const auto carried = carry_.size();
        auto here = chunk;
        if (carried != 0) {
            const auto more = chunk.first(std::min(chunk.size(), kLongestItem - carried));
            carry_.insert(carry_.end(), more.begin(), more.end());
            here = carry_;
        }
        Cursor cursor{here};
        DORMOUSE_TRY(take_item(cursor));
        if (cursor.short_of_bytes()) {
            if (carried == 0) carry_.assign(chunk.begin(), chunk.end());
            return {};
        }
        chunk = chunk.subspan(cursor.used() - carried);
        carry_.clear();
    }
    return {};
}

Result<> StreamSplitter::take_item(Cursor& in) {
    switch (step_) {
        case Step::Header:
            return take_header(in);
        case Step::Configuration:
            return take_configuration(in);
        case Step::FirstSection:
            return take_first_section(in);
        case Step::BlockList:
            return take_block(in);
        case Step::Section:
            return take_section(in);
        case Step::Records:
            return take_record(in);
        case Step::Footer:
            return take_footer(in);
        case Step::Devices:
            break;
    }
    return fail(Errc::Internal, "a device section is not an item");
}

Result<> StreamSplitter::take_header(Cursor& in) {
    const auto magic = in.number_32();
    const auto version = in.number_32();
    if (in.short_of_bytes()) return {};
    if (magic != kMagic) return corrupt("it does not begin as one");
    if (version != kVersion) return corrupt("version {}, this reads version {}", version, kVersion);
    step_ = Step::Configuration;
    return {};
}

Result<> StreamSplitter::take_configuration(Cursor& in) {
    const auto type = in.number(1);
    if (in.short_of_bytes()) return {};
    if (type != kConfiguration) return corrupt("no configuration section, but section type {:#x}", type);
    const auto length = in.number_32();
    if (in.short_of_bytes()) return {};
    if (length == 0 || length > kLongestMachineType) return corrupt("a machine type of {} bytes", length);
    const auto name = in.text(length);
    if (in.short_of_bytes()) return {};
    if (printable(name) != name) return corrupt("machine type \"{}\" is not a name", printable(name));
    state_.machine_type = std::string{name};
    step_ = Step::FirstSection;
    return {};
}

Result<> StreamSplitter::take_first_section(Cursor& in) {
    const auto type = in.number(1);
    if (in.short_of_bytes()) return {};
    if (type == kSubsection) {
        const auto name = in.short_text();
        if (in.short_of_bytes()) return {};
        return corrupt("configuration subsection \"{}\" is not supported: was a capability set?",
                       printable(name));
    }
    if (type != kSectionStart) return corrupt("section type {:#x} where RAM must start", type);
    const auto id = in.number_32();
    const auto name = in.short_text();
    const auto instance = in.number_32();
    const auto version = in.number_32();
    if (in.short_of_bytes()) return {};
    if (name != kRamSection) return corrupt("section \"{}\" before RAM is not supported", printable(name));
    if (instance != kRamInstance || version != kRamVersion)
        return corrupt("RAM section instance {}, version {} is not supported", instance, version);
    state_.ram_section_id = id;
    step_ = Step::Records;
    return {};
}

Result<> StreamSplitter::begin_block_list(std::uint64_t total) {
    if (has_main_ || !state_.roms.empty()) return corrupt("a second list of blocks");
    if (total == 0) return corrupt("an empty list of blocks");
    list_left_ = total;
    step_ = Step::BlockList;
    return {};
}

Result<> StreamSplitter::take_block(Cursor& in) {
    const auto name = in.short_text();
    const auto length = in.number(8);
    if (in.short_of_bytes()) return {};
    if (name.empty()) return corrupt("a block without a name");
    if (length == 0 || length % kPageSize != 0 || length > list_left_)
        return corrupt("block \"{}\" of {} bytes", printable(name), length);
    if (find_block(name) != kNoBlock) return corrupt("block \"{}\" twice", printable(name));
    if (state_.roms.size() + (has_main_ ? 1 : 0) >= limits_.blocks)
        return corrupt("more than {} blocks", limits_.blocks);
    if (name == state_.main_block) {
        if (length > limits_.main_length)
            return corrupt("main memory of {} bytes, at most {} expected", length, limits_.main_length);
        state_.main_length = length;
        has_main_ = true;
    } else {
        if (length > limits_.rom_bytes - rom_bytes_)
            return corrupt("with block \"{}\" more than {} bytes beside main memory", printable(name),
                           limits_.rom_bytes);
        rom_bytes_ += length;
        state_.roms.push_back(RomBlock{std::string{name}, length, {}});
    }
    list_left_ -= length;
    if (list_left_ == 0) {
        if (!has_main_) return corrupt("no block \"{}\"", state_.main_block);
        step_ = Step::Records;
    }
    return {};
}

Result<> StreamSplitter::take_section(Cursor& in) {
    const auto type = in.number(1);
    const auto id = in.number_32();
    if (in.short_of_bytes()) return {};
    if (type != kSectionPart && type != kSectionEnd)
        return corrupt("section type {:#x} before the end of RAM", type);
    if (id != state_.ram_section_id) return corrupt("section {} is not the RAM section", id);
    ram_ended_ = type == kSectionEnd;
    step_ = Step::Records;
    return {};
}

Result<> StreamSplitter::check_record_flags(std::uint64_t flags) const {
    constexpr std::array<std::pair<std::uint64_t, std::string_view>, 4> kUnsupported{
        {{kFlagFull, "FULL"}, {kFlagXbzrle, "XBZRLE"}, {kFlagHook, "HOOK"}, {kFlagCompressed, "COMPRESS"}}};
    for (const auto& [flag, name] : kUnsupported)
        if (flags & flag) return corrupt("RAM record {} is not supported", name);
    constexpr auto kKnown = kFlagZero | kFlagSizes | kFlagPage | kFlagEnd | kFlagContinue;
    if (flags & ~kKnown) return corrupt("RAM record with unknown flags {:#x}", flags);
    return {};
}

Result<> StreamSplitter::take_record(Cursor& in) {
    const auto word = in.number(8);
    if (in.short_of_bytes()) return {};
    const auto flags = word & kFlagMask;
    const auto value = word & ~kFlagMask;
    DORMOUSE_TRY(check_record_flags(flags));
    switch (flags & ~kFlagContinue) {
        case kFlagSizes:
            return begin_block_list(value);
        case kFlagEnd:
            if (!has_main_) return corrupt("RAM without a list of blocks");
            step_ = Step::Footer;
            return {};
        case kFlagZero:
        case kFlagPage:
            break;
        default:
            return corrupt("RAM record with flags {:#x}", flags);
    }
    auto block = last_block_;
    if (!(flags & kFlagContinue)) {
        const auto name = in.short_text();
        if (in.short_of_bytes()) return {};
        block = find_block(name);
        if (block == kNoBlock) return corrupt("a page of block \"{}\", which is not listed", printable(name));
    } else if (block == kNoBlock) {
        return corrupt("the first page names no block");
    }
    return take_page(in, block, value, flags);
}

Result<> StreamSplitter::take_page(Cursor& in, std::size_t block, std::uint64_t offset, std::uint64_t flags) {
    if (offset >= block_length(block)) return corrupt("a page at {:#x}, beyond the end of its block", offset);
    const bool fill = (flags & kFlagZero) != 0;
    const auto content = in.take(fill ? 1 : kPageSize);
    if (in.short_of_bytes()) return {};
    last_block_ = block;
    return fill ? store_fill(block, offset, content[0]) : store_page(block, offset, content);
}

Result<> StreamSplitter::store_page(std::size_t block, std::uint64_t offset,
                                    std::span<const std::byte> page) {
    if (block == kMain) return pages_.on_page(offset, page);
    auto& rom = state_.roms[block];
    if (rom.contents.empty()) rom.contents.resize(rom.length);
    std::copy(page.begin(), page.end(), rom.contents.begin() + static_cast<std::ptrdiff_t>(offset));
    return {};
}

Result<> StreamSplitter::store_fill(std::size_t block, std::uint64_t offset, std::byte value) {
    if (value == std::byte{0}) {
        if (block == kMain) return pages_.on_zero(offset);
        if (state_.roms[block].contents.empty()) return {};
    }
    std::array<std::byte, kPageSize> page;
    page.fill(value);
    return store_page(block, offset, page);
}

Result<> StreamSplitter::take_footer(Cursor& in) {
    const auto type = in.number(1);
    const auto id = in.number_32();
    if (in.short_of_bytes()) return {};
    if (type != kFooter || id != state_.ram_section_id)
        return corrupt("the RAM section has no proper footer");
    step_ = ram_ended_ ? Step::Devices : Step::Section;
    return {};
}

Result<> StreamSplitter::keep_devices(std::span<const std::byte> bytes) {
    auto& kept = state_.device_sections;
    if (bytes.size() > limits_.device_bytes - kept.size())
        return corrupt("more than {} bytes of device state", limits_.device_bytes);
    kept.insert(kept.end(), bytes.begin(), bytes.end());
    return {};
}

Result<MachineState> StreamSplitter::finish() {
    if (failed_) return fail(error_);
    if (step_ != Step::Devices) return corrupt("it ends too early");
    const auto& devices = state_.device_sections;
    if (devices.size() < 2) return corrupt("it ends without device state");
    if (std::to_integer<unsigned>(devices.front()) != kSectionFull)
        return corrupt("section type {:#x} after RAM", std::to_integer<unsigned>(devices.front()));
    if (std::to_integer<unsigned>(devices.back()) != kEof)
        return corrupt("it does not end in the end mark: is it cut off, or was suppress-vmdesc not set?");
    return std::exchange(state_, {});
}

std::uint64_t StreamSplitter::block_length(std::size_t block) const {
    return block == kMain ? state_.main_length : state_.roms[block].length;
}

std::size_t StreamSplitter::find_block(std::string_view name) const {
    if (has_main_ && name == state_.main_block) return kMain;
    for (std::size_t i = 0; i < state_.roms.size(); ++i)
        if (state_.roms[i].name == name) return i;
    return kNoBlock;
}

}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
// The migration stream's reader must never crash, hang or hold more than its
// limits; and what it accepts must come out of the writer and in again as it was.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "vmm/migration_stream.h"
#include "vmm/migration_writer.h"

namespace {

using namespace dormouse;
using namespace dormouse::vmm;

struct CheckedSink final : PageSink {
    Result<> on_page(std::uint64_t offset, std::span<const std::byte> page) override {
        if (page.size() != kPageSize) std::abort();
        return on_zero(offset);
    }
    Result<> on_zero(std::uint64_t offset) override {
        if (offset % kPageSize != 0 || offset >= length) std::abort();
        return {};
    }
    std::uint64_t length = 0;
};

Result<MachineState> split(std::span<const std::byte> stream, std::size_t chunk) {
    StreamLimits limits;
    limits.main_length = 64 * kPageSize;
    limits.blocks = 8;
    limits.rom_bytes = 64 * kPageSize;
    limits.device_bytes = 4096;
    CheckedSink sink;
    sink.length = limits.main_length;
    StreamSplitter splitter{sink, limits};
    for (std::size_t at = 0; at < stream.size(); at += chunk) {
        auto fed = splitter.feed(stream.subspan(at, std::min(chunk, stream.size() - at)));
        if (!fed) return fail(fed.error());
    }
    return splitter.finish();
}

bool same(const MachineState& a, const MachineState& b) {
    if (a.machine_type != b.machine_type || a.main_length != b.main_length ||
        a.roms.size() != b.roms.size() || a.device_sections != b.device_sections)
        return false;
    for (std::size_t i = 0; i < a.roms.size(); ++i)
        if (a.roms[i].name != b.roms[i].name || a.roms[i].length != b.roms[i].length) return false;
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto stream = std::as_bytes(std::span{data, size});
    const auto whole = split(stream, 1 << 20);
    const auto pieces = split(stream, 13);
    if (whole.has_value() != pieces.has_value()) std::abort();
    if (!whole) {
        if (whole.error().message != pieces.error().message) std::abort();
        return 0;
    }
    if (!same(*whole, *pieces)) std::abort();
    std::vector<std::byte> written;
    const auto wrote = write_stream(*whole, [&](std::span<const std::byte> bytes) -> Result<> {
        written.insert(written.end(), bytes.begin(), bytes.end());
        return {};
    });
    if (!wrote) std::abort();
    const auto again = split(written, 1 << 20);
    if (!again || !same(*whole, *again)) std::abort();
    return 0;
}

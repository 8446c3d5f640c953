// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hostd/base/result.h"
#include "vmm/migration_stream.h"

namespace dormouse::vmm {

// Takes the bytes of a stream, in order.
using ByteSink = std::function<Result<>(std::span<const std::byte>)>;

// Writes a stream that QEMU loads with `migrate-incoming`:
//   begin(), any number of page() and zero() in any order, end().
// Pages of the main block that are not written stay as the destination has
// them, that is, as they are in the base image. The blocks other than main
// memory are always written in full: without them the guest hangs at its next
// reboot. `state` must outlive the writer. One thread.
class StreamWriter {
  public:
    StreamWriter(const MachineState& state, ByteSink out);

    // Errc::InvalidArgument when `state` cannot make a valid stream.
    Result<> begin();
    Result<> page(std::uint64_t offset, std::span<const std::byte> page);  // kPageSize bytes
    Result<> zero(std::uint64_t offset);
    Result<> end();

  private:
    Result<> check_state() const;
    Result<> record(std::uint64_t offset, std::uint64_t flags, const std::string& block);
    Result<> rom(const RomBlock& block);
    Result<> flush();
    Result<> flush_if_full();
    void put(std::span<const std::byte> bytes);
    void put_text(const std::string& text);  // u8 length, bytes
    void put_8(unsigned value);
    void put_32(std::uint32_t value);
    void put_64(std::uint64_t value);

    const MachineState& state_;
    ByteSink out_;
    std::vector<std::byte> buffer_;
    std::string last_block_;
};

// One with no page of the main block: a wake from the base image alone.
Result<> write_stream(const MachineState& state, const ByteSink& out);

}  // namespace dormouse::vmm

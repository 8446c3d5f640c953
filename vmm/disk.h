// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hostd/base/process.h"
#include "hostd/base/result.h"

// Disk images by qemu-img. Formats are always named, never probed: an image's
// first bytes belong to the guest. The functions block: for the work pool.
// Paths must be absolute, so that none can be taken for a protocol ("nbd:...").
namespace dormouse::vmm {

struct DiskInfo {
    std::string format;
    std::uint64_t virtual_size = 0;      // bytes that the guest sees
    std::uint64_t actual_size = 0;       // bytes on the host
    std::filesystem::path backing_file;  // empty: none
    std::string backing_format;
    bool dirty = false;    // not closed cleanly
    bool corrupt = false;  // marked so by QEMU
};

enum class DiskHealth { Clean, Leaks, Damaged };  // leaks waste space and are harmless

struct DiskCheck {
    DiskHealth health = DiskHealth::Clean;
    std::string detail;  // for people; empty when clean
};

// A new qcow2 that holds changes to `backing` ("raw" or "qcow2"), synced. With
// `size` (bytes) it is larger than that. Errc::Conflict when `path` exists.
Result<> create_overlay(const std::filesystem::path& path, const std::filesystem::path& backing,
                        const std::string& backing_format, std::optional<std::uint64_t> size = {});

// Writes into the header of a qcow2 that what is below it is the file `name` in
// its own folder, without looking at that file: for layers that are moved together.
Result<> set_backing_beside(const std::filesystem::path& path, const std::string& name,
                            const std::string& format);

// `in_use` also reads an image that a running machine has open; its sizes may be old.
Result<DiskInfo> disk_info(const std::filesystem::path& path, const std::string& format, bool in_use = false);

// Of a qcow2 that no machine uses.
Result<DiskCheck> check_disk(const std::filesystem::path& path);

// The commands of the above, and readers of what they print.
CommandLine overlay_command(const std::filesystem::path& path, const std::filesystem::path& backing,
                            const std::string& backing_format, std::optional<std::uint64_t> size);
CommandLine info_command(const std::filesystem::path& path, const std::string& format, bool in_use);
CommandLine check_command(const std::filesystem::path& path);
Result<DiskInfo> parse_disk_info(const std::string& json);
Result<DiskCheck> parse_disk_check(int exit_code, const std::string& json);

}  // namespace dormouse::vmm

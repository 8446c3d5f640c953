// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "hostd/base/result.h"

// The memory of a template: made once from the full migration stream of its
// bake, mapped privately by every desktop made from it, never written again.
namespace dormouse::vmm {

constexpr const char* kBaseFile = "memory.base";  // main memory at its offsets; zero pages are holes
constexpr const char* kWakeFile = "wake.stream";  // all the rest, as a stream without main pages

// One file of an image. The digest is BLAKE2b-256 in hex.
struct ImageFile {
    std::uint64_t size = 0;       // bytes
    std::uint64_t allocated = 0;  // bytes on disk when it was written
    std::string digest;
};

struct MemoryImage {
    std::string machine_type;
    ImageFile base;  // its digest is over the pages that are not zero, each with its place
    ImageFile wake;
};

// Reads the stream from `stream_fd` (a pipe, a socket or a file) to its end and
// writes the two files into `folder`, synced. `ram_bytes` is the exact size of
// main memory. `cancelled` may be empty; it is asked at least every 200 ms.
// Blocks: for the work pool. On error the folder holds neither file.
// Errc::Corrupt when the stream is not a whole one, Errc::Interrupted when cancelled.
Result<MemoryImage> split_into_image(int stream_fd, const std::filesystem::path& folder,
                                     std::uint64_t ram_bytes, const std::function<bool()>& cancelled = {});

// Compares both files with `image`. Blocks. Errc::Corrupt names the file that differs.
Result<> verify_image(const std::filesystem::path& folder, const MemoryImage& image,
                      const std::function<bool()>& cancelled = {});

// The base of a machine that boots from its disk: all holes. Replaces what is there.
Result<> create_blank_base(const std::filesystem::path& path, std::uint64_t ram_bytes);

}  // namespace dormouse::vmm

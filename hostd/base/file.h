// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "hostd/base/result.h"
#include "hostd/base/unique_fd.h"

namespace dormouse {

// All of these block and may be called from any thread.

// Reads a whole file. Errc::TooLarge when it is longer than `limit` bytes.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit = 64 << 20);

// Replaces `path` in one step: a reader sees the old or the new content, also
// after a crash (written beside it, synced, renamed, folder synced).
Result<> write_file_atomic(const std::filesystem::path& path, std::string_view content, unsigned mode = 0600);

Result<UniqueFd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0600);
Result<> write_all(int fd, std::string_view bytes);
Result<> sync_directory(const std::filesystem::path& directory);
Result<> make_directories(const std::filesystem::path& path, unsigned mode = 0700);

// Removes a file or a whole tree; absent is fine.
Result<> remove_tree(const std::filesystem::path& path);

// Takes an exclusive lock on a file for as long as the descriptor is open.
// Errc::Conflict at once when somebody else holds it.
Result<UniqueFd> lock_file(const std::filesystem::path& path);

}  // namespace dormouse

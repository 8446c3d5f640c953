// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dormouse::agent {

// Where the cookie of the logged-in user's X server may be, likeliest first:
// $XAUTHORITY, the display manager's file, those of the users. Only files that exist.
std::vector<std::filesystem::path> authority_files(const std::string& display);

// The MIT-MAGIC-COOKIE-1 cookies in `file` for a display with this number. The
// host name in an entry is not looked at: it changes when a desktop is
// forked, and the server is a local one in any case.
std::vector<std::string> read_cookies(const std::filesystem::path& file, const std::string& display);

}  // namespace dormouse::agent

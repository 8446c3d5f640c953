// SPDX-License-Identifier: Apache-2.0
// Running programs inside a desktop.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/desktop/command_traits.h"

namespace dormouse::desktop {

// Runs a program inside to its end, as the desktop's user or as root, with the
// environment of that user's session.
struct RunProgram {
    static constexpr CommandTraits traits{"desktop.exec", CommandGroup::Exec, is_running};
    DesktopReference desktop;
    std::vector<std::string> argv;  // one text when `shell`: a line for the user's shell
    bool shell = false;
    bool as_root = false;
    std::optional<std::string> directory;  // absent: the user's home
    std::map<std::string, std::string> env;
    std::optional<std::string> input;
    Duration timeout = std::chrono::seconds{60};  // at most ten minutes
};

// ---- the answers

struct ProgramResult {
    std::optional<int> exit_code;  // absent when a signal ended it
    std::optional<int> signal;
    bool timed_out = false;
    std::string out;  // UTF-8; other bytes are replaced
    std::string err;
    std::uint64_t out_left_out = 0;  // bytes of the middle that were not kept
    std::uint64_t err_left_out = 0;
};

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/result.h"

// Finding and ending what no daemon knows about. Both functions block; they
// are for the daemon's start and for a desktop's deletion.
namespace dormouse::vmm {

// What there is of one machine in the folder of run folders.
struct Leftover {
    std::string id;        // as the keeper was told; else the run folder's name
    std::string identity;  // in QEMU's command line; empty when it is not known
    std::filesystem::path run_folder;
    std::filesystem::path desktop_folder;  // empty when it is not known
    pid_t keeper_pid = -1;                 // -1: not running
    pid_t qemu_pid = -1;
};

// All machines that have a socket or a state file below `run_root`, whether
// their processes run or not. A process is taken for one of theirs only when
// its command line says so; stale process numbers are never trusted.
std::vector<Leftover> find_leftovers(const std::filesystem::path& run_root);

// Ends its processes, if they still are what they were, and removes the run
// folder. Errc::Timeout when a process does not end.
Result<> remove_leftover(const Leftover& leftover, Duration timeout = std::chrono::seconds{10});

}  // namespace dormouse::vmm

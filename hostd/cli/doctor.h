// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostd/cli/context.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli::doctor {

enum class Level { Ok, Warn, Fail };

// What one look at one thing has shown.
struct Finding {
    std::string check;  // "free disk"
    Level level = Level::Ok;
    std::string text;    // what is so
    std::string advice;  // what to do about it; empty when Ok
};
using Findings = std::vector<Finding>;

// What the daemon said, asked once for all checks.
struct DaemonView {
    bool answers = false;    // on /healthz
    bool lock_held = false;  // the daemon of this state folder runs
    Result<schema::Version> version;
    std::vector<std::string> folders;  // of desktops that were on disk before it was asked
    Result<schema::DesktopList> desktops;
};
DaemonView look_at_daemon(Context& context);

// doctor_host.cpp: this machine
Finding check_qemu();
Finding check_tools();
Finding check_disk(const Config& config);
Finding check_memory();
Finding check_machine_user();

// doctor_folders.cpp
Finding check_state_folder(const Config& config);
Finding check_run_folder(const Config& config);
Finding check_template(const Config& config);
Finding check_token_file(const Config& config);
std::vector<std::string> desktop_folders(const Config& config);  // paths
Finding check_leftovers(const Context& context, const DaemonView& daemon);

// doctor_daemon.cpp
Finding check_daemon(const Context& context, const DaemonView& daemon);
Finding check_port(const Config& config, const DaemonView& daemon);
Finding check_accelerator(const DaemonView& daemon);

}  // namespace dormouse::cli::doctor

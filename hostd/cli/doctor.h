// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostd/cli/context.h"
#include "hostd/cli/doctor_view.h"
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
    std::vector<std::string> folders;     // of desktops that were on disk before it was asked
    std::vector<ProcessFacts> processes;  // that ran before it was asked
    Result<schema::DesktopList> desktops;
};
DaemonView look_at_daemon(Context& context, HostView& host);

// doctor_host.cpp: this machine
Finding check_qemu(HostView& host);
Finding check_qemu_devices(HostView& host);  // the display and the devices that desktops have
Finding check_tools(HostView& host);
Finding check_disk(HostView& host, const std::string& check, const std::filesystem::path& folder);
Finding check_memory(HostView& host);
Finding check_machine_user(HostView& host);
Finding check_clock(HostView& host, const Config& config);
std::string qemu_version(const std::string& said);  // "7.2.15" of what --version says; "" when it says none

// doctor_storage.cpp
Finding check_encryption(HostView& host, const Config& config);

// doctor_folders.cpp
Finding check_state_folder(HostView& host, const Config& config);
Finding check_run_folder(HostView& host, const Config& config);
Finding check_token_file(HostView& host, const Config& config);
std::filesystem::path nearest_folder(HostView& host, std::filesystem::path folder);  // that exists

// doctor_templates.cpp
Finding check_template(HostView& host, const Config& config);
Finding check_unfinished_bakes(HostView& host, const Config& config);

// doctor_daemon.cpp
Finding check_daemon(const Context& context, const DaemonView& daemon);
Finding check_port(HostView& host, const Config& config, const DaemonView& daemon);
Finding check_accelerator(HostView& host, const DaemonView& daemon);
std::vector<std::string> desktop_folders(HostView& host, const Config& config);  // paths
Finding check_leftovers(HostView& host, const Context& context, const DaemonView& daemon);

}  // namespace dormouse::cli::doctor

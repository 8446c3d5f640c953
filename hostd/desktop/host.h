// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/config.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/work_pool.h"
#include "hostd/desktop/template_inputs.h"
#include "vmm/accelerator.h"
#include "vmm/machine.h"
#include "vmm/net/control_protocol.h"
#include "vmm/qemu_command.h"

namespace dormouse::desktop {

// The user that keepers and QEMU run as where the daemon is root.
constexpr const char* kMachineUser = "dormouse-vm";

// What all desktops on this host share. Made in main, outlives everything else.
struct Host {
    Config config;
    EventLoop& loop;
    WorkPool& pool;
    std::filesystem::path keeper_binary;
    std::filesystem::path netd_binary;
    std::vector<net::Exception> network_allow;  // what the administrator has opened for desktops
    vmm::QemuVersion qemu;
    vmm::AcceleratorVerdict accelerator;
    vmm::DisplayProtocol display = vmm::DisplayProtocol::Dbus;  // of machines that are started
    std::optional<uid_t> machine_uid;                           // set where the daemon is root
    std::optional<gid_t> machine_gid;

    // With assets/ and guest/, which templates are made from; empty when there is none.
    std::filesystem::path data_folder;
    BakeInputs bake_inputs() const {
        return {.builder = data_folder / "guest/image/build-rootfs.sh",
                .agent_binary = keeper_binary.parent_path() / "dormouse-guestd"};
    }

    std::filesystem::path run_folder(const std::string& id) const { return config.run / id; }
};

// Looks up kMachineUser where this process is root. Errc::Unavailable with what
// to do when that user does not exist.
Result<> find_machine_user(Host& host);

// Makes the state and run folders, so that the machine user can reach what is
// its own and nothing else.
Result<> prepare_folders(const Host& host);

// Gives a file or folder to the machine user; nothing to do where not root.
Result<> give_to_machine(const Host& host, const std::filesystem::path& path, unsigned mode);
// Lets the machine user open it, without making it the owner: it can neither
// replace it nor change its mode. `mode` as for chmod, e.g. 0640 or 0660.
Result<> share_with_machine(const Host& host, const std::filesystem::path& path, unsigned mode);

// How to start a machine of this host, but for what differs between them.
struct LaunchPlan {
    std::string id;
    CommandLine qemu;
    std::filesystem::path desktop_folder;
    net::Mode network = net::Mode::None;
};
vmm::LaunchOptions launch_options(const Host& host, LaunchPlan plan);

// What the network process of a desktop is told.
net::PolicySettings network_policy(const Host& host, net::Mode mode);
nlohmann::json netd_config(const Host& host, const std::string& id, net::Mode mode);

}  // namespace dormouse::desktop

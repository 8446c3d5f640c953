// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/host.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostd/base/file.h"

namespace dormouse::desktop {

Result<> find_machine_user(Host& host) {
    if (::geteuid() != 0) return {};
    const passwd* entry = ::getpwnam(kMachineUser);
    if (!entry)
        return fail(Errc::Unavailable, fmt::format("there is no user '{}' to run machines as", kMachineUser),
                    fmt::format("run ./dormouse up, or: useradd --system --shell /usr/sbin/nologin "
                                "--home-dir /nonexistent {}",
                                kMachineUser));
    host.machine_uid = entry->pw_uid;
    host.machine_gid = entry->pw_gid;
    return {};
}

Result<> prepare_folders(const Host& host) {
    const auto& config = host.config;
    // Passable for the machine user, but not readable: 0711.
    const unsigned mode = host.machine_uid ? 0711 : 0700;
    for (const auto& folder : {config.home, config.desktops(), config.templates, config.run}) {
        DORMOUSE_TRY(make_directories(folder, mode));
        struct stat info {};
        if (::stat(folder.c_str(), &info) != 0) return fail_errno(folder.string());
        if (info.st_uid != ::geteuid())
            return fail(Errc::Denied, fmt::format("{} belongs to another user", folder.string()),
                        "remove it or set DORMOUSE_HOME to another folder");
        if (::chmod(folder.c_str(), mode) != 0) return fail_errno(folder.string());
    }
    return {};
}

namespace {

Result<> set_owner(const std::filesystem::path& path, uid_t uid, gid_t gid, unsigned mode) {
    if (::lchown(path.c_str(), uid, gid) != 0)
        return fail_errno(fmt::format("cannot hand over {}", path.string()));
    if (::chmod(path.c_str(), mode) != 0)
        return fail_errno(fmt::format("cannot set the mode of {}", path.string()));
    return {};
}

}  // namespace

Result<> give_to_machine(const Host& host, const std::filesystem::path& path, unsigned mode) {
    if (!host.machine_uid) return {};
    return set_owner(path, *host.machine_uid, *host.machine_gid, mode);
}

Result<> share_with_machine(const Host& host, const std::filesystem::path& path, unsigned mode) {
    if (!host.machine_uid) return {};
    return set_owner(path, ::geteuid(), *host.machine_gid, mode);
}

vmm::LaunchOptions launch_options(const Host& host, LaunchPlan plan) {
    const auto sockets = host.run_folder(plan.id);
    auto config = netd_config(host, plan.id, plan.network);
    return {.id = std::move(plan.id),
            .qemu = std::move(plan.qemu),
            .run_folder = sockets,
            .desktop_folder = std::move(plan.desktop_folder),
            .keeper_binary = host.keeper_binary,
            .qmp_socket = vmm::qmp_socket(sockets),
            .guest_socket = vmm::agent_socket(sockets),
            .uid = host.machine_uid,
            .gid = host.machine_gid,
            .netd_binary = host.netd_binary,
            .netd_config = std::move(config)};
}

net::PolicySettings network_policy(const Host& host, net::Mode mode) {
    return {.mode = mode, .allow = host.network_allow};
}

nlohmann::json netd_config(const Host& host, const std::string& id, net::Mode mode) {
    const net::NetdConfig config{.id = id,
                                 .run_folder = host.run_folder(id),
                                 .policy = network_policy(host, mode),
                                 .dns = host.config.network_dns};
    return nlohmann::json::parse(net::to_json(config), nullptr, false);
}

}  // namespace dormouse::desktop

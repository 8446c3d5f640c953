// SPDX-License-Identifier: Apache-2.0
#include "hostd/daemon.h"

#include <unistd.h>

#include "db/database.h"
#include "db/store_thread.h"
#include "hostd/api/api_server.h"
#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/desktop/service.h"
#include "hostd/desktop/tokens.h"
#include "hostd/signals.h"

namespace dormouse {

namespace fs = std::filesystem;

namespace {

constexpr const char* kQemu = "qemu-system-x86_64";

// Keeper and network process stand beside this program.
Result<fs::path> program_beside(const char* name) {
    std::error_code error;
    const auto self = fs::read_symlink("/proc/self/exe", error);
    if (error) return fail_errno("/proc/self/exe", error.value());
    auto program = self.parent_path() / name;
    if (!fs::exists(program, error))
        return fail(Errc::NotFound, fmt::format("{} is missing", program.string()),
                    "build Dormouse again: ./dormouse up");
    return program;
}

// One daemon for each state folder. The lock's file tells others who it is.
Result<UniqueFd> take_lock(const Config& config) {
    auto lock = lock_file(config.daemon_lock());
    if (!lock) {
        if (lock.error().code != Errc::Conflict) return lock;
        return fail(Errc::Conflict, fmt::format("a daemon runs already for {}", config.home.string()),
                    "stop it first: ./dormouse down");
    }
    if (::ftruncate(lock->get(), 0) != 0) return fail_errno(config.daemon_lock().string());
    DORMOUSE_TRY(write_all(lock->get(), fmt::format("{}\n", ::getpid())));
    return lock;
}

Result<vmm::DisplayProtocol> choose_display(DisplaySource source) {
    switch (source) {
        case DisplaySource::Dbus:
            return vmm::DisplayProtocol::Dbus;
        case DisplaySource::Vnc:
            return vmm::DisplayProtocol::Vnc;
        case DisplaySource::Auto:
            break;
    }
    return vmm::best_display_protocol(kQemu);
}

Task<Result<>> serve(desktop::Host& host, desktop::Service& service) {
    DORMOUSE_CO_TRY(co_await service.recover());
    auto server = api::ApiServer::start(
        host.loop, service, {.address = host.config.listen_address, .port = host.config.listen_port},
        host.config.limits);
    if (!server) {
        auto error = server.error();
        if (error.code == Errc::Conflict && error.hint.empty())
            error.hint = "set another one: DORMOUSE_LISTEN=127.0.0.1:8761";
        co_return fail(std::move(error));
    }
    Completion<int> ended{host.loop};
    const auto signals =
        SignalWatch::open(host.loop, [ended](int signal) mutable { ended.complete(signal); });
    if (!signals) co_return fail(signals.error());
    DORMOUSE_CO_TRY(write_file_atomic(host.config.daemon_url(), host.config.url()));
    log::info("daemon.ready",
              {{"url", host.config.url()}, {"home", host.config.home.string()}, {"pid", ::getpid()}});

    const int signal = co_await ended;
    log::info("daemon.stopping", {{"signal", signal}});
    (*server)->stop();
    co_await (*server)->finished();
    co_await service.end_operations();
    service.close();
    DORMOUSE_CO_TRY(remove_tree(host.config.daemon_url()));
    co_return Result<>{};
}

}  // namespace

Result<desktop::Host> look_at_host(Config config, EventLoop& loop, WorkPool& pool) {
    DORMOUSE_TRY_ASSIGN(auto keeper, program_beside("dormouse-keeper"));
    DORMOUSE_TRY_ASSIGN(auto netd, program_beside("dormouse-netd"));
    auto allow = net::parse_exceptions(config.network_allow);
    if (!allow) return fail_in("what desktops may reach (network.allow)", allow.error());
    auto qemu = vmm::qemu_version(kQemu);
    if (!qemu) {
        auto error = qemu.error();
        error.hint = "install QEMU: apt-get install qemu-system-x86";
        return fail(std::move(error));
    }
    desktop::Host host{.config = std::move(config),
                       .loop = loop,
                       .pool = pool,
                       .keeper_binary = std::move(keeper),
                       .netd_binary = std::move(netd),
                       .network_allow = std::move(*allow),
                       .qemu = std::move(*qemu)};
    DORMOUSE_TRY_ASSIGN(host.display, choose_display(host.config.display_source));
    if (host.display == vmm::DisplayProtocol::Vnc)
        log::warn("host.display", {{"source", "vnc"}, {"why", "slower than dbus"}});
    if (auto folder = desktop::find_data_folder(host.keeper_binary.parent_path()))
        host.data_folder = std::move(*folder);
    else
        log::warn("host.data", {{"why", folder.error().message}});
    DORMOUSE_TRY(desktop::find_machine_user(host));
    DORMOUSE_TRY(desktop::prepare_folders(host));
    vmm::AcceleratorProbe probe{.binary = kQemu, .cache_file = host.config.home / "accelerator.json"};
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{host.config.templates, error})
        if (fs::exists(entry.path() / "vmlinuz", error)) probe.kernel = entry.path() / "vmlinuz";
    host.accelerator = vmm::choose_accelerator(probe);
    log::info("host.accelerator", {{"accelerator", vmm::accelerator_name(host.accelerator.accelerator)},
                                   {"reason", host.accelerator.reason}});
    return host;
}

Result<> run_daemon(desktop::Host& host) {
    DORMOUSE_TRY_ASSIGN(const auto lock, take_lock(host.config));
    DORMOUSE_TRY_ASSIGN(const auto database, db::Database::open(host.config.database()));
    DORMOUSE_TRY_ASSIGN(auto stores, desktop::open_stores(*database));
    DORMOUSE_TRY(
        desktop::ensure_admin_token(stores.tokens, host.config.admin_token(), host.loop.clock().wall()));
    db::StoreThread store_thread;
    desktop::Service service{host, stores, store_thread, DORMOUSE_VERSION};
    return host.loop.run_until_complete(serve(host, service));
}

}  // namespace dormouse

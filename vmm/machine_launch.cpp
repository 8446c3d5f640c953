// SPDX-License-Identifier: Apache-2.0
// How a machine begins: a keeper is started, or one that runs is found.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/base/process.h"
#include "vmm/guest_channel.h"
#include "vmm/json_fields.h"
#include "vmm/keeper_link.h"
#include "vmm/keeper_stream.h"
#include "vmm/machine.h"
#include "vmm/qemu_command.h"

namespace dormouse::vmm {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr off_t kKeeperLogLimit = 1 << 20;

// What tells this machine's QEMU from all other processes: its uuid, or else
// what it was named.
std::string identity_of(const LaunchOptions& options) {
    const auto& argv = options.qemu.argv;
    for (std::size_t i = 0; i + 1 < argv.size(); ++i)
        if (argv[i] == "-uuid") return argv[i + 1];
    return options.run_folder.string();  // in the paths of its sockets
}

LaunchFile launch_file_of(const LaunchOptions& options) {
    LaunchFile file;
    file.id = options.id;
    file.identity = identity_of(options);
    file.argv = options.qemu.argv;
    file.env = options.qemu.env;
    file.run_folder = options.run_folder;
    file.desktop_folder = options.desktop_folder;
    file.qmp_socket = options.qmp_socket.empty() ? qmp_socket(options.run_folder) : options.qmp_socket;
    file.guest_socket = options.guest_socket;
    if (file.guest_socket.empty()) file.guest_socket = agent_socket(options.run_folder);
    if (file.guest_socket == "-") file.guest_socket.clear();
    file.timeout_ms = std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout).count();
    file.netd_binary = options.netd_binary;
    file.netd_config = options.netd_config;
    return file;
}

Result<> give_to(const fs::path& path, const LaunchOptions& options) {
    if (!options.uid && !options.gid) return {};
    const auto uid = options.uid.value_or(static_cast<uid_t>(-1));
    const auto gid = options.gid.value_or(static_cast<gid_t>(-1));
    if (::chown(path.c_str(), uid, gid) != 0)
        return fail_errno(fmt::format("cannot give {} to its user", path.string()));
    return {};
}

Result<> check(const LaunchOptions& options) {
    if (options.qemu.argv.empty()) return fail(Errc::InvalidArgument, "QEMU's command line is empty");
    if (!options.qemu.descriptors.empty())
        return fail(Errc::InvalidArgument, "QEMU's command line cannot carry descriptors through its keeper");
    for (const auto& path : {options.run_folder, options.desktop_folder, options.keeper_binary})
        if (!path.is_absolute())
            return fail(Errc::InvalidArgument, fmt::format("the path \"{}\" is not absolute", path.string()));
    // Not by a look at the socket: that would take the connection from its daemon.
    std::error_code error;
    const auto lock = keeper_lock(options.run_folder);
    if (!fs::exists(lock, error)) return {};
    if (const auto held = lock_file(lock); !held && held.error().code == Errc::Conflict)
        return fail(Errc::Conflict, fmt::format("desktop {} is running already", options.id));
    return {};
}

// Not synced: it serves this one start.
Result<> write_launch_file(const fs::path& path, const LaunchOptions& options) {
    DORMOUSE_TRY_ASSIGN(const auto file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
    DORMOUSE_TRY(write_all(file.get(), dump_json(to_json(launch_file_of(options))) + "\n"));
    return give_to(path, options);
}

Result<UniqueFd> open_keeper_log(const fs::path& path) {
    struct stat info {};
    const bool large = ::stat(path.c_str(), &info) == 0 && info.st_size > kKeeperLogLimit;
    return open_file(path, O_WRONLY | O_CREAT | O_APPEND | (large ? O_TRUNC : 0));
}

struct Launched {
    UniqueFd connection;
    Child starter;  // ends as soon as the keeper is on its own
};

Result<Launched> launch(const LaunchOptions& options) {
    DORMOUSE_TRY(check(options));
    DORMOUSE_TRY(make_directories(options.run_folder));
    DORMOUSE_TRY(give_to(options.run_folder, options));
    ::unlink(exit_file(options.desktop_folder).c_str());  // of the run before
    const auto launch_path = options.desktop_folder / "launch.json";
    DORMOUSE_TRY(write_launch_file(launch_path, options));
    DORMOUSE_TRY_ASSIGN(const auto log, open_keeper_log(options.desktop_folder / "keeper.log"));
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return fail_errno("cannot make a socket pair");
    Launched launched;
    launched.connection = UniqueFd{ends[0]};
    const UniqueFd theirs{ends[1]};
    CommandLine keeper;
    keeper.argv = {options.keeper_binary.string(), launch_path.string()};
    keeper.descriptors = {{1, log.get()}, {2, log.get()}, {3, theirs.get()}};
    keeper.uid = options.uid;
    keeper.gid = options.gid;
    keeper.new_session = true;
    ForkSpawner spawner;
    DORMOUSE_TRY_ASSIGN(launched.starter, spawner.start(keeper));
    return launched;
}

Task<void> reap(EventLoop& loop, Child starter) {
    Completion<bool> ended{loop};
    auto watch = loop.watch(starter.pidfd.get(), POLLIN, [ended](short) mutable { ended.complete(true); });
    co_await ended;
    watch.reset();
    wait_exit(starter);
}

// Outside of the coroutines: GCC 12 cannot take a braced list inside one.
void log_started(const std::string& id, pid_t pid, std::int64_t milliseconds) {
    log::info("machine.started", {{"desktop", id}, {"pid", pid}, {"took_ms", milliseconds}});
}
void log_adopted(const std::string& id, pid_t pid) {
    log::info("machine.adopted", {{"desktop", id}, {"pid", pid}});
}
json end_at_once() {
    return {{"type", "end"}, {"grace_ms", 0}};
}

// A missing program or folder is no "not found" to whoever asked for a desktop.
Error launch_error(const std::string& id, Error error) {
    if (error.code == Errc::NotFound || error.code == Errc::Denied) error.code = Errc::Unavailable;
    error.message = fmt::format("cannot start desktop {}: {}", id, error.message);
    return error;
}

}  // namespace

Task<Result<std::shared_ptr<Machine>>> Machine::start(EventLoop& loop, LaunchOptions options) {
    const auto begun = loop.clock().now();
    auto launched = launch(options);
    if (!launched) {
        ::rmdir(options.run_folder.c_str());  // when nothing is in it
        co_return fail(launch_error(options.id, launched.error()));
    }
    std::shared_ptr<Machine> machine{new Machine{loop, options.id, options.run_folder}};
    machine->attach(std::move(launched->connection));
    co_await reap(loop, std::move(launched->starter));
    // The keeper has a deadline of its own; this one is for a keeper that hangs.
    const auto ready = co_await machine->wait_ready(options.timeout + std::chrono::seconds{5});
    if (!ready) {
        const auto ended = co_await machine->abandon_launch(ready.error());
        co_return fail(launch_error(options.id, ended.error()));
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(loop.clock().now() - begun);
    log_started(options.id, machine->qemu_pid(), took.count());
    co_return machine;
}

Task<Result<std::shared_ptr<Machine>>> Machine::adopt(EventLoop& loop, std::string id, fs::path run_folder,
                                                      Duration timeout) {
    auto connection = connect_unix(keeper_socket(run_folder), SOCK_SEQPACKET);
    if (!connection) {
        const auto refused = connection.error().os_error == ECONNREFUSED;
        if (refused || connection.error().code == Errc::NotFound)
            co_return fail(Errc::NotFound, fmt::format("no keeper serves desktop {}", id));
        co_return fail_in(fmt::format("cannot adopt desktop {}", id), connection.error());
    }
    std::shared_ptr<Machine> machine{new Machine{loop, id, std::move(run_folder)}};
    machine->attach(std::move(*connection));
    const auto ready = co_await machine->wait_ready(timeout);
    if (!ready) co_return fail_in(fmt::format("cannot adopt desktop {}", id), ready.error());
    log_adopted(id, machine->qemu_pid());
    co_return machine;
}

Task<Result<>> Machine::wait_ready(Duration timeout) {
    const auto deadline = loop_.clock().now() + timeout;
    for (;;) {
        if (launch_error_) co_return fail(*launch_error_);
        if (announced_ || exit_) co_return fail(gone_error());
        if (disconnected_) co_return fail(Errc::Interrupted, "the connection to the desktop was given up");
        if (has_hello_ && hello_.ready) co_return Result<>{};
        const auto now = loop_.clock().now();
        if (now >= deadline) co_return fail(Errc::Timeout, "the desktop's keeper did not answer in time");
        co_await wait_change(deadline - now);
    }
}

// Leaves no process: also a keeper that has said nothing yet reads this "end".
Task<Result<>> Machine::abandon_launch(Error reason) {
    const auto deadline = loop_.clock().now() + std::chrono::seconds{10};
    if (link_) link_->send_control(end_at_once());
    while (!exit_ && link_ && link_->open() && loop_.clock().now() < deadline)
        co_await wait_change(deadline - loop_.clock().now());
    while (has_hello_ && !exit_ && loop_.clock().now() < deadline)
        co_await wait_change(deadline - loop_.clock().now());
    // What QEMU said at its end says more than that it ended.
    if (exit_ && !exit_->stderr_tail.empty() && reason.message.find("QEMU ended") == std::string::npos)
        reason.message += "; " + gone_error().message;
    ::rmdir(run_folder_.c_str());
    co_return fail(std::move(reason));
}

}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
#include "vmm/machine_leftovers.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "hostd/base/file.h"
#include "hostd/base/unique_fd.h"
#include "vmm/json_fields.h"
#include "vmm/keeper_protocol.h"

namespace dormouse::vmm {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> command_line(pid_t pid) {
    std::vector<std::string> argv;
    const auto text = read_file(fmt::format("/proc/{}/cmdline", pid), 1 << 20);
    if (!text) return argv;
    std::string_view rest{*text};
    while (!rest.empty()) {
        const auto end = rest.find('\0');
        argv.emplace_back(rest.substr(0, end));
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    return argv;
}

bool is_keeper_of(const Leftover& leftover, const std::vector<std::string>& argv) {
    return argv.size() == 2 && !leftover.desktop_folder.empty() &&
           fs::path{argv[0]}.filename() == "dormouse-keeper" &&
           argv[1] == leftover.desktop_folder / "launch.json";
}

// The state file was written by the user that QEMU runs as: it must not make us
// end another user's process.
bool same_owner(const fs::path& run_folder, pid_t pid) {
    struct stat folder {};
    struct stat process {};
    return ::stat(run_folder.c_str(), &folder) == 0 &&
           ::stat(fmt::format("/proc/{}", pid).c_str(), &process) == 0 && folder.st_uid == process.st_uid;
}

// As a whole argument, or in a path of one: never by chance.
bool is_qemu_of(const Leftover& leftover, const std::vector<std::string>& argv) {
    if (leftover.identity.empty() || argv.empty() || fs::path{argv[0]}.filename() == "dormouse-keeper")
        return false;
    return std::any_of(argv.begin() + 1, argv.end(), [&](const auto& argument) {
        return argument == leftover.identity || (leftover.identity.front() == '/' &&
                                                 argument.find(leftover.identity + "/") != std::string::npos);
    });
}

Leftover read_state(const fs::path& run_folder) {
    Leftover leftover;
    leftover.run_folder = run_folder;
    leftover.id = run_folder.filename();
    const auto text = read_file(keeper_state(run_folder), 1 << 20);
    if (!text) return leftover;
    const auto state = parse_json(*text);
    if (const auto id = text_field(state, "id"); !id.empty()) leftover.id = id;
    leftover.identity = text_field(state, "identity");
    leftover.desktop_folder = text_field(state, "desktop_folder");
    return leftover;
}

bool holds_anything(const fs::path& run_folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{run_folder, error})
        if (entry.is_socket(error) || entry.path() == keeper_state(run_folder)) return true;
    return false;
}

template <class Matches>
Result<> end_process(pid_t pid, Matches matches, std::chrono::steady_clock::time_point deadline) {
    if (pid <= 1) return {};
    // First the pidfd, then the look: what it names cannot change any more.
    const UniqueFd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (!pidfd) {
        if (errno == ESRCH) return {};
        return fail_errno(fmt::format("cannot open process {}", pid));
    }
    if (!matches(command_line(pid))) return {};  // ended, or another one by now
    if (::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0) != 0 && errno != ESRCH)
        return fail_errno(fmt::format("cannot end process {}", pid));
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd wait{pidfd.get(), POLLIN, 0};
        const int ready = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        if (ready > 0) return {};
        if (ready == 0) return fail(Errc::Timeout, fmt::format("process {} does not end", pid));
        if (errno != EINTR) return fail_errno("cannot wait for a process");
    }
}

}  // namespace

std::vector<Leftover> find_leftovers(const fs::path& run_root) {
    std::vector<Leftover> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{run_root, error})
        if (entry.is_directory(error) && holds_anything(entry.path()))
            found.push_back(read_state(entry.path()));
    if (found.empty()) return found;
    for (const auto& entry : fs::directory_iterator{"/proc", error}) {
        const auto name = entry.path().filename().string();
        pid_t pid = -1;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size()) continue;
        const auto argv = command_line(pid);
        if (argv.empty()) continue;
        for (auto& leftover : found) {
            const bool keeper = is_keeper_of(leftover, argv);
            if (!keeper && !is_qemu_of(leftover, argv)) continue;
            if (!same_owner(leftover.run_folder, pid)) continue;
            (keeper ? leftover.keeper_pid : leftover.qemu_pid) = pid;
        }
    }
    return found;
}

Result<> remove_leftover(const Leftover& leftover, Duration timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    // The keeper first: it would tell a daemon of QEMU's end.
    DORMOUSE_TRY(end_process(
        leftover.keeper_pid, [&](const auto& argv) { return is_keeper_of(leftover, argv); }, deadline));
    DORMOUSE_TRY(end_process(
        leftover.qemu_pid, [&](const auto& argv) { return is_qemu_of(leftover, argv); }, deadline));
    return remove_tree(leftover.run_folder);
}

}  // namespace dormouse::vmm

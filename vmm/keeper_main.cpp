// SPDX-License-Identifier: Apache-2.0
// dormouse-keeper LAUNCH_FILE: started by dormoused, one for each desktop.
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>

#include "hostd/base/event_loop.h"
#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "vmm/keeper.h"

namespace {

using namespace dormouse;

// The daemon that started us holds the other end; absent when run by hand.
constexpr int kDaemonFd = 3;

// QEMU answers a quit at once unless it hangs.
constexpr auto kTermGrace = std::chrono::seconds{10};

// Nothing of the daemon's surroundings reaches QEMU but what it needs.
void clean_environment() {
    std::map<std::string, std::string> kept;
    for (const char* name :
         {"PATH", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"})
        if (const char* value = ::getenv(name)) kept.emplace(name, value);
    ::clearenv();
    for (const auto& [name, value] : kept) ::setenv(name.c_str(), value.c_str(), 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
}

bool is_socket(int fd) {
    int type = 0;
    socklen_t length = sizeof type;
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET;
}

UniqueFd termination_signals() {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    return UniqueFd{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
}

// Tells the daemon why nothing was started, before anything could.
int refuse(EventLoop& loop, UniqueFd daemon, const Error& error) {
    log::error("keeper.failed", {{"why", error.message}});
    if (daemon) {
        vmm::KeeperLink link{loop, std::move(daemon), {}};
        link.send_control({{"type", "failed"}, {"message", error.message}, {"hint", error.hint}});
    }
    return 1;
}

int keep(const char* launch_file, UniqueFd daemon) {
    const SystemClock clock;
    EventLoop loop{clock};
    const auto signals = termination_signals();
    const auto text = read_file(launch_file, 1 << 20);
    if (!text) return refuse(loop, std::move(daemon), text.error());
    auto file = vmm::parse_launch_file(*text);
    if (!file) return refuse(loop, std::move(daemon), file.error());
    ForkSpawner spawner;
    auto keeper = vmm::Keeper::start(loop, std::move(*file), spawner, [&loop] { loop.stop(); });
    if (!keeper) return refuse(loop, std::move(daemon), keeper.error());
    if (daemon) (*keeper)->serve(std::move(daemon));
    const auto watch = loop.watch(signals.get(), POLLIN, [&](short) {
        signalfd_siginfo info{};
        if (::read(signals.get(), &info, sizeof info) == sizeof info) (*keeper)->end(kTermGrace);
    });
    loop.run();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr,
                     "usage: dormouse-keeper LAUNCH_FILE\nIt is started by dormoused, for one desktop.\n");
        return 2;
    }
    // The process that the daemon started ends at once and is reaped by it; the
    // keeper itself is nobody's child, in a session that the daemon made.
    const pid_t pid = ::fork();
    if (pid < 0) return 1;
    if (pid > 0) ::_exit(0);
    ::syscall(SYS_close_range, kDaemonFd + 1, ~0U, 0);
    UniqueFd daemon;
    if (is_socket(kDaemonFd)) {
        ::fcntl(kDaemonFd, F_SETFD, FD_CLOEXEC);
        daemon = UniqueFd{kDaemonFd};
    } else {
        ::close(kDaemonFd);
    }
    clean_environment();
    if (::chdir("/") != 0) return 1;
    try {
        return keep(argv[1], std::move(daemon));
    } catch (const std::exception& exception) {
        log::error("keeper.unexpected", {{"what", exception.what()}});
        return 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <ostream>
#include <thread>

#include "hostd/base/file.h"
#include "hostd/cli/progress.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

namespace fs = std::filesystem;

constexpr auto kPoll = std::chrono::milliseconds{100};
constexpr auto kStopPoll = std::chrono::milliseconds{300};
// The daemon cuts the power of a guest that does not shut down before this.
constexpr auto kLongestStop = std::chrono::minutes{5};
constexpr auto kLongestEnd = std::chrono::seconds{60};
constexpr std::size_t kMostAtOnce = 16;  // threads, each with a request at a time

// ---- the daemon's process

// Whether somebody holds the lock. The file alone says nothing: it stays.
Result<bool> is_locked(const fs::path& lock) {
    std::error_code error;
    if (!fs::exists(lock, error)) return false;  // lock_file() would make it
    const auto taken = lock_file(lock);
    if (taken) return false;
    if (taken.error().code == Errc::Conflict) return true;
    return fail(taken.error());
}

// The pid is from a file: before anybody is sent a signal, it must be seen to
// have that very file open.
bool has_open(pid_t pid, const fs::path& file) {
    struct stat wanted {};
    if (::stat(file.c_str(), &wanted) != 0) return false;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{fmt::format("/proc/{}/fd", pid), error}) {
        struct stat open {};
        if (::stat(entry.path().c_str(), &open) == 0 && open.st_dev == wanted.st_dev &&
            open.st_ino == wanted.st_ino)
            return true;
    }
    return false;
}

Result<pid_t> holder(const fs::path& lock) {
    DORMOUSE_TRY_ASSIGN(const auto text, read_file(lock, 64));
    pid_t pid = 0;
    std::from_chars(text.data(), text.data() + text.size(), pid);
    if (pid <= 1 || !has_open(pid, lock))
        return fail(Errc::Denied,
                    fmt::format("{} is locked, but by no process that can be looked at", lock.string()),
                    "run this as the user who started the daemon");
    return pid;
}

// True when there was one to end.
Result<bool> end_daemon(Context& context) {
    const auto lock = context.config().daemon_lock();
    DORMOUSE_TRY_ASSIGN(const bool runs, is_locked(lock));
    if (!runs) return false;
    DORMOUSE_TRY_ASSIGN(const auto pid, holder(lock));
    if (::kill(pid, SIGTERM) != 0 && errno != ESRCH)
        return fail_errno(fmt::format("cannot end process {}", pid));
    const auto deadline = context.clock().now() + kLongestEnd;
    const Progress progress{context.streams(), "the daemon ends"};
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const bool still, is_locked(lock));
        if (!still) return true;
        if (context.clock().now() > deadline)
            return fail(Errc::Timeout, fmt::format("the daemon (process {}) does not end", pid),
                        "its log: " + context.config().daemon_log().string());
        context.pause(kPoll);
    }
}

// ---- the desktops

bool has_machine(const schema::Desktop& desktop) {
    return desktop.state != "stopped" && desktop.state != "failed";
}

// Until it has no machine any more. One that is deleted meanwhile has none, and
// one that is being created can be stopped a little later.
Result<> stop_one(Context& context, const schema::Desktop& desktop) {
    const auto deadline = context.clock().now() + kLongestStop;
    for (;;) {
        const auto now = context.client().get_desktop(desktop.id);
        if (!now && now.error().code == Errc::NotFound) return {};
        if (!now) return fail_in(desktop.name, now.error());
        if (!has_machine(*now)) return {};
        if (now->state == "running" || now->state == "starting") {
            const auto asked = context.client().stop_desktop(desktop.id);
            const bool may_wait =
                asked || asked.error().code == Errc::Conflict || asked.error().code == Errc::NotFound;
            if (!may_wait) return fail_in(desktop.name, asked.error());
        }
        if (context.clock().now() > deadline)
            return fail(Errc::Timeout, fmt::format("{} is still {}", desktop.name, now->state));
        context.pause(kStopPoll);
    }
}

// Gives what went wrong.
std::vector<Error> stop_all(Context& context, const std::vector<schema::Desktop>& desktops) {
    if (desktops.empty()) return {};
    Progress progress{context.streams(), fmt::format("stopping {} desktops", desktops.size())};
    std::vector<std::optional<Error>> errors(desktops.size());
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    const auto work = [&] {
        for (std::size_t at; (at = next++) < desktops.size();) {
            if (auto stopped = stop_one(context, desktops[at]); !stopped) errors[at] = stopped.error();
            progress.set(fmt::format("stopped {} of {} desktops", ++done, desktops.size()));
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < std::min(kMostAtOnce, desktops.size()); ++i) threads.emplace_back(work);
    }
    std::vector<Error> all;
    for (auto& error : errors)
        if (error) all.push_back(std::move(*error));
    return all;
}

// Errors when it cannot be asked; what it was asked for is in `stopped`.
Result<std::vector<Error>> stop_desktops(Context& context, std::vector<std::string>& stopped) {
    DORMOUSE_TRY_ASSIGN(const auto list, context.client().list_desktops());
    std::vector<schema::Desktop> running;
    for (const auto& desktop : list.desktops) {
        if (!has_machine(desktop)) continue;
        running.push_back(desktop);
        stopped.push_back(desktop.name);
    }
    return stop_all(context, running);
}

void report(Context& context, bool ended, const std::vector<std::string>& stopped) {
    if (context.json()) {
        context.print_line(schema::write_json(schema::Json{{"stopped", stopped}, {"daemon_ended", ended}}));
        return;
    }
    for (const auto& name : stopped) context.print_line(fmt::format("{} is stopped", plain(name)));
    context.print_line(ended ? "The daemon has ended" : "Nothing runs");
}

Result<int> down(Context& context) {
    if (!context.connection().is_local)
        return fail(Errc::InvalidArgument,
                    "this ends the daemon of this machine, but DORMOUSE_URL names another one",
                    "unset DORMOUSE_URL");
    DORMOUSE_TRY_ASSIGN(const bool runs, is_locked(context.config().daemon_lock()));
    std::vector<std::string> stopped;
    bool clean = true;
    if (runs) {
        auto errors = stop_desktops(context, stopped);
        if (!errors) errors = std::vector{errors.error()};
        clean = errors->empty();
        for (const auto& error : *errors) context.complain(context.judge(error).error);
    }
    DORMOUSE_TRY_ASSIGN(const bool ended, end_daemon(context));
    if (clean) {
        report(context, ended, stopped);
        return kOk;
    }
    return fail(
        Errc::Internal,
        ended ? "the daemon has ended, but not all desktops were stopped" : "not all desktops were stopped",
        "what still runs goes on; the next ./dormouse up finds it");
}

}  // namespace

Verb down_verb() {
    return {.name = "down",
            .arguments = "",
            .summary = "Shut all desktops down, then end the daemon",
            .examples = {"down"},
            .details = "Desktops are kept: ./dormouse up and start bring them back.",
            .declare = [](CLI::App&) -> Action { return down; }};
}

}  // namespace dormouse::cli

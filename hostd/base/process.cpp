// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/process.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace dormouse {

namespace {

// What the child needs, made before fork(): after it only async-signal-safe
// calls are allowed.
struct Prepared {
    std::vector<std::string> env_strings;
    std::vector<char*> argv;
    std::vector<char*> envp;
    std::vector<std::pair<int, int>> descriptors;
    std::vector<std::string> candidates;  // absolute paths to try, in order
};

Prepared prepare(const CommandLine& command) {
    Prepared prepared;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text{*entry};
        if (!command.env.count(std::string{text.substr(0, text.find('='))}))
            prepared.env_strings.emplace_back(text);
    }
    for (const auto& [name, value] : command.env)
        if (!value.empty()) prepared.env_strings.push_back(name + "=" + value);
    for (auto& text : prepared.env_strings) prepared.envp.push_back(text.data());
    prepared.envp.push_back(nullptr);
    for (const auto& argument : command.argv) prepared.argv.push_back(const_cast<char*>(argument.c_str()));
    prepared.argv.push_back(nullptr);

    const auto& program = command.argv.front();
    if (program.find('/') != std::string::npos) {
        prepared.candidates.push_back(program);
    } else {
        const char* path = ::getenv("PATH");
        std::string_view rest{path ? path : "/usr/sbin:/usr/bin:/sbin:/bin"};
        while (!rest.empty()) {
            const auto colon = rest.find(':');
            prepared.candidates.push_back(std::string{rest.substr(0, colon)} + "/" + program);
            rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
        }
    }
    for (const auto& pair : command.descriptors) prepared.descriptors.push_back(pair);
    return prepared;
}

[[noreturn]] void child_fail(int report) {
    const int code = errno;
    [[maybe_unused]] const auto written = ::write(report, &code, sizeof code);
    ::_exit(127);
}

void place_descriptors(Prepared& prepared, int& report) {
    // First lift everything above the range it may be placed in.
    constexpr int kAbove = 200;
    report = ::fcntl(report, F_DUPFD_CLOEXEC, kAbove);
    if (report < 0) ::_exit(127);
    for (auto& [target, source] : prepared.descriptors) {
        source = ::fcntl(source, F_DUPFD_CLOEXEC, kAbove);
        if (source < 0) child_fail(report);
    }
    bool has_stdin = false;
    for (const auto& [target, source] : prepared.descriptors) {
        if (::dup2(source, target) < 0) child_fail(report);
        if (target == 0) has_stdin = true;
    }
    if (!has_stdin) {
        const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null < 0 || ::dup2(null, 0) < 0) child_fail(report);
    }
}

// Best effort: only root may lower a niceness or raise its chances of survival.
void set_plain_priority() {
    ::setpriority(PRIO_PROCESS, 0, 0);
    const int score = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0) return;
    [[maybe_unused]] const auto written = ::write(score, "0", 1);
    ::close(score);
}

[[noreturn]] void run_child(const CommandLine& command, Prepared& prepared, int report, pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    place_descriptors(prepared, report);
    if (command.new_session && ::setsid() < 0) child_fail(report);
    if (command.plain_priority) set_plain_priority();
    // Opened before the user changes: the program may lie below a folder that the
    // other user may not enter, such as a checkout in root's home.
    int program = -1;
    if (command.uid) {
        for (const auto& candidate : prepared.candidates) {
            program = ::open(candidate.c_str(), O_PATH | O_CLOEXEC);
            if (program >= 0) break;
        }
        if (program < 0) child_fail(report);
    }
    if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) child_fail(report);
    if (command.gid &&
        (::setgroups(0, nullptr) != 0 || ::setresgid(*command.gid, *command.gid, *command.gid) != 0))
        child_fail(report);
    if (command.uid && ::setresuid(*command.uid, *command.uid, *command.uid) != 0) child_fail(report);
    if (command.die_with_parent) {
        if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) child_fail(report);
        if (::getppid() != parent) ::_exit(127);  // it is gone already
    }
    if (program >= 0) {
        ::syscall(SYS_execveat, program, "", prepared.argv.data(), prepared.envp.data(), AT_EMPTY_PATH);
        child_fail(report);
    }
    int remembered = ENOENT;
    for (const auto& candidate : prepared.candidates) {
        ::execve(candidate.c_str(), prepared.argv.data(), prepared.envp.data());
        if (errno != ENOENT && errno != ENOTDIR) remembered = errno;
    }
    errno = remembered;
    child_fail(report);
}

}  // namespace

std::string ExitStatus::to_text() const {
    if (signal != 0) return fmt::format("signal {} ({})", signal, ::strsignal(signal));
    return fmt::format("exit code {}", code);
}

Result<Child> ForkSpawner::start(const CommandLine& command) {
    auto prepared = prepare(command);
    int pipe_fds[2];
    if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
    UniqueFd reader{pipe_fds[0]};
    UniqueFd writer{pipe_fds[1]};
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return fail_errno("cannot fork");
    if (pid == 0) run_child(command, prepared, writer.get(), parent);
    writer.reset();

    int child_errno = 0;
    ssize_t got = 0;
    do {
        got = ::read(reader.get(), &child_errno, sizeof child_errno);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof child_errno) {
        ::waitpid(pid, nullptr, 0);
        return fail_errno(fmt::format("cannot run {}", command.argv.front()), child_errno);
    }
    Child child;
    child.pid = pid;
    child.pidfd = UniqueFd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (!child.pidfd) {
        const int code = errno;
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        return fail_errno("cannot open a pidfd", code);
    }
    return child;
}

ExitStatus wait_exit(const Child& child) {
    int raw = 0;
    while (::waitpid(child.pid, &raw, 0) < 0 && errno == EINTR) {
    }
    ExitStatus status;
    if (WIFSIGNALED(raw))
        status.signal = WTERMSIG(raw);
    else
        status.code = WEXITSTATUS(raw);
    return status;
}

namespace {

// Collects output, hands out whole lines, keeps the tail.
class OutputCollector {
  public:
    explicit OutputCollector(const RunOptions& options) : options_(options) {}

    void add(std::string_view bytes) {
        kept_ += bytes;
        if (kept_.size() > 2 * options_.keep_output) kept_.erase(0, kept_.size() - options_.keep_output);
        if (!options_.on_line) return;
        line_ += bytes;
        for (auto end = line_.find_first_of("\r\n"); end != std::string::npos;
             end = line_.find_first_of("\r\n")) {
            if (end > 0) options_.on_line(std::string_view{line_}.substr(0, end));
            line_.erase(0, end + 1);
        }
        if (line_.size() > 64 << 10) line_.clear();
    }
    std::string finish() {
        if (options_.on_line && !line_.empty()) options_.on_line(line_);
        if (kept_.size() > options_.keep_output) kept_.erase(0, kept_.size() - options_.keep_output);
        return std::move(kept_);
    }

  private:
    const RunOptions& options_;
    std::string kept_;
    std::string line_;
};

}  // namespace

Result<RunOutput> run_command(const CommandLine& command, const RunOptions& options) {
    int pipe_fds[2];
    if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
    UniqueFd reader{pipe_fds[0]};
    UniqueFd writer{pipe_fds[1]};
    auto wired = command;
    wired.new_session = true;  // a group of its own, so that its children end with it
    wired.descriptors.emplace(1, writer.get());
    wired.descriptors.emplace(2, writer.get());
    ForkSpawner spawner;
    DORMOUSE_TRY_ASSIGN(const auto child, spawner.start(wired));
    writer.reset();

    OutputCollector collector{options};
    const auto start = std::chrono::steady_clock::now();
    std::optional<std::chrono::steady_clock::time_point> ended_at;
    Errc reason = Errc::Internal;
    bool open = true;
    bool exited = false;
    // After the program itself has ended, a grandchild may hold the pipe open:
    // it is read empty, but not waited for.
    while (open && !exited) {
        pollfd fds[2] = {{reader.get(), POLLIN, 0}, {child.pidfd.get(), POLLIN, 0}};
        ::poll(fds, 2, 200);
        if (fds[0].revents != 0) {
            char buffer[16 << 10];
            const auto got = ::read(reader.get(), buffer, sizeof buffer);
            if (got > 0) collector.add({buffer, static_cast<std::size_t>(got)});
            if (got == 0 || (got < 0 && errno != EINTR)) open = false;
        } else if (fds[1].revents != 0) {
            exited = true;
        }
        const auto now = std::chrono::steady_clock::now();
        if (!ended_at) {
            if (now - start > options.timeout)
                reason = Errc::Timeout;
            else if (options.cancelled && options.cancelled())
                reason = Errc::Interrupted;
            if (reason != Errc::Internal) {
                ::kill(-child.pid, SIGTERM);
                ended_at = now;
            }
        } else if (now - *ended_at > options.grace) {
            ::kill(-child.pid, SIGKILL);
        }
    }
    RunOutput result;
    result.status = wait_exit(child);
    if (reason != Errc::Internal) ::kill(-child.pid, SIGKILL);
    result.output = collector.finish();
    if (reason == Errc::Timeout)
        return fail(Errc::Timeout, fmt::format("{} did not end in time", command.argv.front()));
    if (reason == Errc::Interrupted)
        return fail(Errc::Interrupted, fmt::format("{} was cancelled", command.argv.front()));
    return result;
}

Result<std::string> run_checked(const CommandLine& command, const RunOptions& options) {
    DORMOUSE_TRY_ASSIGN(auto run, run_command(command, options));
    if (run.status.ok()) return std::move(run.output);
    auto tail = run.output;
    while (!tail.empty() && (tail.back() == '\n' || tail.back() == ' ')) tail.pop_back();
    if (tail.size() > 600) tail.erase(0, tail.size() - 600);
    return fail(Errc::Io,
                fmt::format("{} failed with {}: {}", command.argv.front(), run.status.to_text(), tail));
}

}  // namespace dormouse

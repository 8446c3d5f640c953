// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/unique_fd.h"

namespace dormouse {

// A program to run, as a value that tests can look at.
struct CommandLine {
    std::vector<std::string> argv;           // argv[0] is looked up in PATH
    std::map<std::string, std::string> env;  // added to ours; an empty value removes the name
    std::filesystem::path directory;         // empty: ours
    std::map<int, int> descriptors;  // number in the child -> ours; 0, 1, 2 default to /dev/null, ours, ours
    std::optional<uid_t> uid;        // with `gid`, and no other groups; then argv[0] must not be a script
    std::optional<gid_t> gid;
    bool new_session = false;      // setsid()
    bool plain_priority = false;   // niceness and OOM score 0, whatever ours are
    bool die_with_parent = false;  // SIGKILL when the thread that started it ends
};

// How a process ended.
struct ExitStatus {
    int code = 0;  // meaningful when signal is 0
    int signal = 0;
    bool ok() const { return code == 0 && signal == 0; }
    std::string to_text() const;  // "exit code 1", "signal 9 (Killed)"
};

// A started process. Destroying it does not end the process; the owner of
// `pid` must reap it with wait_exit(), or hand it over to init.
struct Child {
    pid_t pid = -1;
    UniqueFd pidfd;  // readable once it has ended
};

// Starts child processes. Any thread.
class Spawner {
  public:
    virtual ~Spawner() = default;
    virtual Result<Child> start(const CommandLine& command) = 0;
};

// Reports a missing program, folder or permission as an error, not as an exit code.
class ForkSpawner final : public Spawner {
  public:
    Result<Child> start(const CommandLine& command) override;
};

// Reaps `child`; blocks until it ends.
ExitStatus wait_exit(const Child& child);

struct RunOptions {
    Duration timeout = std::chrono::seconds{60};  // then SIGTERM, `grace` later SIGKILL, to the whole group
    Duration grace = std::chrono::seconds{5};
    std::function<void(std::string_view line)> on_line;  // each line of output, as it comes
    std::function<bool()> cancelled;                     // asked every 200 ms; true ends it like a timeout
    std::size_t keep_output = 64 << 10;                  // the last bytes of output that are kept
};
struct RunOutput {
    ExitStatus status;
    std::string output;  // stdout and stderr together
};

// Runs a program in a process group of its own and waits for it. Blocks.
// Errc::Timeout, or Errc::Interrupted when cancelled; a failing exit status is
// not an error here.
Result<RunOutput> run_command(const CommandLine& command, const RunOptions& options = {});

// The same, and a failing exit status is an error that carries the last lines.
Result<std::string> run_checked(const CommandLine& command, const RunOptions& options = {});

}  // namespace dormouse

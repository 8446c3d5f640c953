// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/exec_method.h"

#include <pwd.h>
#include <unistd.h>

#include "guest/agent/program.h"
#include "guest/protocol/messages.h"

namespace dormouse::agent {

namespace {

using nlohmann::json;

constexpr std::int64_t kLongestRun = 600'000;  // ms
constexpr std::size_t kMostArguments = 1000;
constexpr std::size_t kLongestPath = 4096;
// Debian gives the first person this number; the template makes no other.
constexpr uid_t kDesktopUser = 1000;

Result<std::vector<std::string>> texts(const json* list, const char* name) {
    if (!list || !list->is_array() || list->empty() || list->size() > kMostArguments)
        return Params::wrong(name, "a list of texts");
    std::vector<std::string> result;
    for (const auto& item : *list) {
        if (!item.is_string()) return Params::wrong(name, "a list of texts");
        result.push_back(item.get<std::string>());
        if (result.back().find('\0') != std::string::npos)
            return Params::wrong(name, "a list of texts without zero bytes");
    }
    if (result.front().empty()) return Params::wrong(name, "a list that begins with a program");
    return result;
}

Result<std::map<std::string, std::string>> environment(const json* fields) {
    std::map<std::string, std::string> result;
    if (!fields) return result;
    if (!fields->is_object() || fields->size() > kMostArguments)
        return Params::wrong("env", "an object of texts");
    for (const auto& [name, value] : fields->items()) {
        const bool good = value.is_string() && !name.empty() &&
                          name.find_first_of(std::string_view{"=\0", 2}) == std::string::npos &&
                          value.get<std::string>().find('\0') == std::string::npos;
        if (!good) return Params::wrong("env", "an object of texts");
        result[name] = value.get<std::string>();
    }
    return result;
}

struct Parsed {
    ExecRequest request;
    std::string input;
    Duration timeout{};
};

Result<Parsed> parse(Params& params) {
    Parsed parsed;
    DORMOUSE_TRY_ASSIGN(parsed.request.argv, texts(params.take("argv"), "argv"));
    if (const auto* shell = params.take("shell")) parsed.request.shell = *shell == true;
    if (const auto* user = params.take("user")) {
        if (*user != "desktop" && *user != "root") return Params::wrong("user", "\"desktop\" or \"root\"");
        parsed.request.as_root = *user == "root";
    }
    if (params.take("cwd")) {
        DORMOUSE_TRY_ASSIGN(parsed.request.directory, params.text("cwd", kLongestPath));
    }
    DORMOUSE_TRY_ASSIGN(parsed.request.env, environment(params.take("env")));
    if (params.take("stdin")) {
        DORMOUSE_TRY_ASSIGN(parsed.input, params.text("stdin", guest::kMaxText));
    }
    DORMOUSE_TRY_ASSIGN(const auto timeout, params.integer("timeout_ms", 1, kLongestRun));
    parsed.timeout = std::chrono::milliseconds{timeout};
    DORMOUSE_TRY(params.done());
    return parsed;
}

json outcome_json(ProgramOutcome outcome) {
    json body;
    body["exit_code"] = outcome.status.signal == 0 ? json(outcome.status.code) : json();
    body["signal"] = outcome.status.signal != 0 ? json(outcome.status.signal) : json();
    body["timed_out"] = outcome.timed_out;
    body["stdout"] = std::move(outcome.out);
    body["stderr"] = std::move(outcome.err);
    body["stdout_left_out"] = outcome.out_left_out;
    body["stderr_left_out"] = outcome.err_left_out;
    return body;
}

// The session's own variables: a program started from here opens its window
// like one that was started from the panel.
void add_session(std::map<std::string, std::string>& env, const passwd& user) {
    const std::string runtime = fmt::format("/run/user/{}", user.pw_uid);
    env["HOME"] = user.pw_dir;
    env["USER"] = env["LOGNAME"] = user.pw_name;
    env["SHELL"] = user.pw_shell;
    env["PATH"] = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games";
    env["XDG_RUNTIME_DIR"] = runtime;
    env["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + runtime + "/bus";
    env["XDG_CURRENT_DESKTOP"] = "XFCE";
    env["XDG_CONFIG_DIRS"] = "/etc/xdg/dormouse:/etc/xdg";
}

}  // namespace

Result<CommandLine> exec_command(const ExecRequest& request) {
    const passwd* user = ::getpwuid(request.as_root ? 0 : kDesktopUser);
    if (!user) return fail(Errc::NotFound, "the desktop has no such user");
    CommandLine command;
    command.plain_priority = true;
    add_session(command.env, *user);
    if (request.as_root) command.env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    for (const auto& [name, value] : request.env) command.env[name] = value;
    command.directory = request.directory.empty() ? user->pw_dir : request.directory;
    if (::geteuid() == 0 && !request.as_root)
        command.argv = {"/usr/bin/setpriv",           "--reuid",       user->pw_name, "--regid",
                        std::to_string(user->pw_gid), "--init-groups", "--"};
    if (request.shell) {
        command.argv.insert(command.argv.end(), {user->pw_shell, "-c", request.argv.front()});
    } else {
        command.argv.insert(command.argv.end(), request.argv.begin(), request.argv.end());
    }
    return command;
}

Task<Result<json>> run_exec(EventLoop& loop, Params params) {
    DORMOUSE_CO_TRY_ASSIGN(auto parsed, parse(params));
    DORMOUSE_CO_TRY_ASSIGN(auto command, exec_command(parsed.request));
    auto run = run_program(loop, std::move(command), std::move(parsed.input), parsed.timeout);
    DORMOUSE_CO_TRY_ASSIGN(auto outcome, co_await std::move(run));
    co_return outcome_json(std::move(outcome));
}

}  // namespace dormouse::agent

// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstring>
#include <ostream>

#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

// As shells say that a signal ended a program, and as timeout(1) says its own.
constexpr int kSignalBase = 128;
constexpr int kTimedOut = 124;

struct Options {
    std::string name;
    std::vector<std::string> command;
    bool as_root = false;
    std::string directory;
    int timeout = 60;
};

Result<int> run(Context& context, const Options& options) {
    schema::ExecRequest request;
    request.argv = options.command;
    request.shell = options.command.size() == 1;
    request.user = options.as_root ? "root" : "desktop";
    if (!options.directory.empty()) request.directory = options.directory;
    request.timeout = std::chrono::seconds{options.timeout};
    DORMOUSE_TRY_ASSIGN(const auto response, context.client().exec(options.name, request));
    if (context.json()) {
        context.print_line(schema::to_json(response));
        return kOk;
    }
    context.print(response.out);
    context.streams().err << response.err << std::flush;
    if (response.timed_out) {
        context.note(fmt::format("it did not end within {} s", options.timeout));
        return kTimedOut;
    }
    return response.exit_code ? *response.exit_code : kSignalBase + response.signal.value_or(0);
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("COMMAND", options->command, "One text for the shell, or a program and its arguments")
        ->required();
    app.add_flag("--root", options->as_root, "As root, not as the desktop's user");
    app.add_option("--cwd", options->directory, "The folder to run it in (the user's home when not given)");
    app.add_option("--timeout", options->timeout, "Seconds until it is ended (60)")
        ->check(CLI::Range(1, static_cast<int>(schema::kLongestProgram.count())));
    return [options](Context& context) { return run(context, *options); };
}

}  // namespace

Verb exec_verb() {
    return {.name = "exec",
            .arguments = "NAME COMMAND...",
            .summary = "Run a program inside and show what it writes",
            .examples = {"exec research 'ls -l | head'", "exec research -- git --version",
                         "exec research --root --timeout 300 'apt-get install -y cowsay'"},
            .details =
                "The exit code is the program's; 124 when its time was up, 128 and more when a signal ended "
                "it. Put options of the program after --.",
            .declare = declare};
}

}  // namespace dormouse::cli

// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/verbs.h"
#include "hostd/cli/wait.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    bool wait = false;
};

Result<int> start(Context& context, const Options& options) {
    DORMOUSE_TRY_ASSIGN(auto desktop, context.client().start_desktop(options.name));
    if (options.wait) {
        DORMOUSE_TRY_ASSIGN(desktop, wait_for(context, desktop.id, Goal::Running));
    }
    return report_state(context, desktop, "start", options.wait);
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_flag("--wait", options->wait, "Until it can be used");
    return [options](Context& context) { return start(context, *options); };
}

}  // namespace

Verb start_verb() {
    return {.name = "start",
            .arguments = "NAME [--wait]",
            .summary = "Boot a stopped desktop; nothing when it runs",
            .examples = {"start research --wait"},
            .declare = declare};
}

}  // namespace dormouse::cli

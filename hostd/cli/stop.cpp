// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/verbs.h"
#include "hostd/cli/wait.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    bool wait = false;
};

Result<int> stop(Context& context, const Options& options) {
    DORMOUSE_TRY_ASSIGN(auto desktop, context.client().stop_desktop(options.name));
    if (options.wait) {
        DORMOUSE_TRY_ASSIGN(desktop, wait_for(context, desktop.id, Goal::Stopped));
    }
    return report_state(context, desktop, "stop", options.wait);
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_flag("--wait", options->wait, "Until it has stopped");
    return [options](Context& context) { return stop(context, *options); };
}

}  // namespace

Verb stop_verb() {
    return {.name = "stop",
            .arguments = "NAME [--wait]",
            .summary = "Shut a desktop down; its disk is kept",
            .examples = {"stop research --wait"},
            .declare = declare};
}

}  // namespace dormouse::cli

// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/verbs.h"
#include "hostd/cli/wait.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    bool wait = false;
};

Result<int> restart(Context& context, const Options& options) {
    DORMOUSE_TRY_ASSIGN(auto desktop, context.client().restart_desktop(options.name));
    if (options.wait) {
        // It goes through "running" only with a new time of starting.
        const auto before = desktop.started_at.value_or(WallTime::min());
        DORMOUSE_TRY_ASSIGN(desktop, wait_for(context, desktop.id, Goal::Running, before));
    }
    return report_state(context, desktop, "start", options.wait);
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_flag("--wait", options->wait, "Until it can be used again");
    return [options](Context& context) { return restart(context, *options); };
}

}  // namespace

Verb restart_verb() {
    return {.name = "restart",
            .arguments = "NAME [--wait]",
            .summary = "Shut a desktop down and boot it again",
            .examples = {"restart research --wait"},
            .declare = declare};
}

}  // namespace dormouse::cli

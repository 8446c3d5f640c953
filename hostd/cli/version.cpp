// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

// A daemon that does not run is no failure here.
Result<int> show_version(Context& context) {
    const auto daemon = context.client().version();
    if (context.json()) {
        schema::Json json{{"version", DORMOUSE_VERSION}, {"daemon", nullptr}};
        if (daemon)
            json["daemon"] = {{"version", daemon->version},
                              {"api", daemon->api},
                              {"qemu", daemon->qemu},
                              {"accelerator", daemon->accelerator},
                              {"accelerator_reason", daemon->accelerator_reason}};
        context.print_line(schema::write_json(json));
        return kOk;
    }
    Table table;
    table.add({"dormouse", DORMOUSE_VERSION});
    if (daemon) {
        table.add({"daemon", fmt::format("{} (API {})", daemon->version, daemon->api)});
        table.add({"QEMU", daemon->qemu});
        table.add({"accelerator", fmt::format("{}: {}", daemon->accelerator, daemon->accelerator_reason)});
    } else {
        const auto verdict = context.judge(daemon.error());
        table.add({"daemon", verdict.code == kUnreachable ? "not running" : verdict.error.message});
    }
    context.print(table.render(context.streams().colour));
    return kOk;
}

}  // namespace

Verb version_verb() {
    return {.name = "version",
            .arguments = "",
            .summary = "Show the versions of this program, the daemon and QEMU",
            .examples = {"version"},
            .declare = [](CLI::App&) -> Action { return show_version; }};
}

}  // namespace dormouse::cli

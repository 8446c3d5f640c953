// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

struct Options {
    bool names = false;
    client::DesktopQuery query;
    std::string image;
};

Result<int> list(Context& context, const Options& options) {
    auto query = options.query;
    if (!options.image.empty()) query.image = options.image;
    DORMOUSE_TRY_ASSIGN(const auto all, context.client().list_desktops(query));
    if (context.json()) {
        context.print_line(schema::to_json(all));
        return kOk;
    }
    if (options.names) {
        for (const auto& desktop : all.desktops) context.print_line(plain(desktop.name));
        return kOk;
    }
    if (all.desktops.empty()) {
        const bool filtered = !query.labels.empty() || !query.states.empty() || query.image;
        context.note(filtered ? "No desktop fits that."
                              : "There are no desktops. Make one: " + context.command("create"));
        return kOk;
    }
    const auto now = context.clock().wall();
    Table table{{"NAME", "STATE", "STARTED", "CREATED", "TEMPLATE", "SCREEN", "MEMORY", "CPUS"}};
    for (const auto& desktop : all.desktops) {
        const bool deaf = desktop.state == "running" && !desktop.ready;
        table.add({{desktop.name, Style::Bold},
                   {desktop.state + (deaf ? " (not ready)" : ""),
                    deaf ? Style::Yellow : style_of_state(desktop.state)},
                   desktop.started_at ? relative_time(*desktop.started_at, now) : "-",
                   relative_time(desktop.created_at, now),
                   desktop.image,
                   fmt::format("{}×{}", desktop.screen.width, desktop.screen.height),
                   fmt::format("{} MiB", desktop.memory_mib),
                   std::to_string(desktop.cpus)});
    }
    context.print(table.render(context.streams().colour));
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("--label", options->query.labels, "Those that have this label; may be given several times")
        ->option_text(" KEY[=VALUE]")
        ->expected(1)
        ->take_all();
    app.add_option("--state", options->query.states, "Those in this state; may be given several times")
        ->option_text(" STATE")
        ->expected(1)
        ->take_all();
    app.add_option("--template", options->image, "Those made from it")->option_text(" T");
    app.add_flag("--names", options->names, "Only the names, one a line");
    return [options](Context& context) { return list(context, *options); };
}

}  // namespace

Verb list_verb() {
    return {.name = "list",
            .arguments = "[--label KEY[=VALUE]] [--state STATE] [--template T] [--names]",
            .summary = "Show all desktops, or those that fit",
            .examples = {"list", "list --label team=search --state running", "list --json"},
            .declare = declare};
}

}  // namespace dormouse::cli

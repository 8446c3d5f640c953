// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

Result<int> show(Context& context, const std::string& name) {
    DORMOUSE_TRY_ASSIGN(const auto desktop, context.client().get_desktop(name));
    if (context.json()) {
        context.print_line(schema::to_json(desktop));
        return kOk;
    }
    const auto now = context.clock().wall();
    Table table;
    table.add({"Name", {desktop.name, Style::Bold}});
    table.add({"Id", desktop.id});
    table.add({"State", {desktop.state, style_of_state(desktop.state)}});
    if (desktop.reason) table.add({"Reason", *desktop.reason});
    if (desktop.state == "running")
        table.add(
            {"Ready", desktop.ready ? Cell{"yes"} : Cell{"no: its agent does not answer", Style::Yellow}});
    table.add({"Template", desktop.image});
    bool first = true;
    for (const auto& [key, value] : desktop.labels)
        table.add({std::exchange(first, false) ? "Labels" : "", fmt::format("{}={}", key, value)});
    table.add({"Created", relative_time(desktop.created_at, now)});
    if (desktop.started_at) table.add({"Started", relative_time(*desktop.started_at, now)});
    table.add({"Network", desktop.network.mode});
    table.add({"Screen", fmt::format("{}×{}", desktop.screen.width, desktop.screen.height)});
    table.add({"Machine",
               fmt::format("{} MiB, {} CPUs, {}", desktop.memory_mib, desktop.cpus, desktop.accelerator)});
    if (desktop.exit) {
        table.add({"Ended by", {desktop.exit->status, Style::Red}});
        for (const auto& line : desktop.exit->last_output) table.add({"", {line, Style::Dim}});
    }
    table.add({"Link", context.page_link(desktop.name)});
    context.print(table.render(context.streams().colour));
    return kOk;
}

Action declare(CLI::App& app) {
    auto name = std::make_shared<std::string>();
    add_desktop(app, *name);
    return [name](Context& context) { return show(context, *name); };
}

}  // namespace

Verb show_verb() {
    return {.name = "show",
            .arguments = "NAME",
            .summary = "Show one desktop, and the link to watch it",
            .examples = {"show research"},
            .details = "The link holds your token: who has it can use all desktops.",
            .declare = declare};
}

}  // namespace dormouse::cli

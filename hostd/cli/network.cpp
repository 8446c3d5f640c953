// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

// ---- network

struct Options {
    std::string name;
    std::string mode;
};

Result<int> network(Context& context, const Options& options) {
    schema::UpdateDesktopRequest change;
    if (!options.mode.empty()) change.network = schema::Network{options.mode};
    DORMOUSE_TRY_ASSIGN(const auto desktop, change.network
                                                ? context.client().update_desktop(options.name, change)
                                                : context.client().get_desktop(options.name));
    if (context.json())
        context.print_line(schema::to_json(desktop));
    else
        context.print_line(plain(desktop.network.mode));
    return kOk;
}

Action declare_network(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("MODE", options->mode,
                   "open: the internet, and nothing of this host and of private networks; none: nothing")
        ->option_text(" open|none")
        ->check(CLI::IsMember({"open", "none"}));
    return [options](Context& context) { return network(context, *options); };
}

// ---- destinations

std::string size_text(std::int64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string place(const schema::DestinationEntry& entry) {
    if (entry.name && entry.address) return fmt::format("{} ({})", *entry.name, *entry.address);
    return entry.name.value_or(entry.address.value_or("?"));
}

Result<int> destinations(Context& context, const std::string& name) {
    DORMOUSE_TRY_ASSIGN(const auto all, context.client().list_destinations(name));
    if (context.json()) {
        context.print_line(schema::to_json(all));
        return kOk;
    }
    if (all.destinations.empty()) {
        context.note("It has not tried to reach anything.");
        return kOk;
    }
    const auto now = context.clock().wall();
    Table table{
        {"DESTINATION", "PORT", "PROTOCOL", "VERDICT", "TIMES", "SENT", "RECEIVED", "LAST", "REASON"}};
    for (const auto& entry : all.destinations)
        table.add({{place(entry), Style::Bold},
                   std::to_string(entry.port),
                   entry.protocol,
                   {entry.verdict, entry.verdict == "refused" ? Style::Yellow : Style::None},
                   std::to_string(entry.connections),
                   size_text(entry.bytes_sent),
                   size_text(entry.bytes_received),
                   relative_time(entry.last_at, now),
                   entry.reason});
    context.print(table.render(context.streams().colour));
    return kOk;
}

Action declare_destinations(CLI::App& app) {
    auto name = std::make_shared<std::string>();
    add_desktop(app, *name);
    return [name](Context& context) { return destinations(context, *name); };
}

}  // namespace

Verb network_verb() {
    return {.name = "network",
            .arguments = "NAME [open|none]",
            .summary = "Show what a desktop may reach, or change it at once",
            .examples = {"network research", "network research none"},
            .details =
                "open: the internet by TCP and names, but nothing of this host, of private and other special "
                "networks, and no port 25. none: nothing; what is connected is cut off.",
            .declare = declare_network};
}

Verb destinations_verb() {
    return {.name = "destinations",
            .arguments = "NAME",
            .summary = "Show what a desktop has reached, or tried to",
            .examples = {"destinations research"},
            .declare = declare_destinations};
}

}  // namespace dormouse::cli

// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/progress.h"
#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

using namespace std::chrono_literals;

Style style_of(const schema::Operation& operation) {
    if (operation.state == "succeeded") return Style::Green;
    if (operation.state == "failed") return Style::Red;
    return operation.state == "cancelled" ? Style::Dim : Style::Yellow;
}

std::string about(const schema::Operation& operation) {
    return operation.desktop.value_or(operation.image.value_or("-"));
}

std::string progress_of(const schema::Operation& operation) {
    std::string text = operation.step;
    if (operation.cancelling) text += text.empty() ? "ending" : " (ending)";
    if (operation.progress && operation.state == "running")
        text += fmt::format("{}{:.0f} %", text.empty() ? "" : ", ", *operation.progress * 100);
    return text.empty() ? "-" : text;
}

int show_one(Context& context, const schema::Operation& operation) {
    const int code = operation.error ? exit_code_of(operation.error->code) : kOk;
    if (context.json()) {
        context.print_line(schema::to_json(operation));
        return code;
    }
    const auto now = context.clock().wall();
    Table table;
    table.add({"Id", {operation.id, Style::Bold}});
    table.add({"Kind", operation.kind});
    table.add({"State", {operation.state, style_of(operation)}});
    table.add({"Step", progress_of(operation)});
    if (operation.desktop) table.add({"Desktop", *operation.desktop});
    if (operation.image) table.add({"Template", *operation.image});
    table.add({"Begun", relative_time(operation.created_at, now)});
    if (operation.finished_at) table.add({"Ended", relative_time(*operation.finished_at, now)});
    if (operation.error) {
        table.add({"Error", {operation.error->message, Style::Red}});
        if (!operation.error->hint.empty()) table.add({"", {operation.error->hint, Style::Dim}});
    }
    context.print(table.render(context.streams().colour));
    return code;
}

// ---- list

Result<int> list(Context& context) {
    DORMOUSE_TRY_ASSIGN(const auto all, context.client().list_operations());
    if (context.json()) {
        context.print_line(schema::to_json(all));
        return kOk;
    }
    if (all.operations.empty()) {
        context.note("Nothing is in progress, and nothing has ended within the last hour.");
        return kOk;
    }
    const auto now = context.clock().wall();
    Table table{{"ID", "KIND", "STATE", "ABOUT", "BEGUN", "STEP"}};
    for (const auto& operation : all.operations)
        table.add({{operation.id, Style::Bold},
                   operation.kind,
                   {operation.state, style_of(operation)},
                   about(operation),
                   relative_time(operation.created_at, now),
                   operation.error ? operation.error->message : progress_of(operation)});
    context.print(table.render(context.streams().colour));
    return kOk;
}

// ---- show

struct ShowOptions {
    std::string id;
    bool wait = false;
    bool log = false;
};

// What it has said since `offset`; moves that on.
Result<bool> print_log(Context& context, const std::string& id, std::uint64_t& offset) {
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const auto log, context.client().get_operation_log(id, offset));
        if (log.offset > offset) context.print_line("... (the beginning is gone)");
        std::string_view rest{log.text};
        while (!rest.empty()) {
            const auto line = rest.substr(0, rest.find('\n'));
            context.print_line(plain(line));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        }
        context.streams().out.flush();
        const bool more = log.next_offset > offset;
        offset = log.next_offset;
        if (log.finished || !more) return log.finished;
    }
}

Result<int> show(Context& context, const ShowOptions& options) {
    std::uint64_t offset = 0;
    // The log goes to standard output as it comes; between two looks at it the
    // answer waits for the end of the operation.
    for (;;) {
        const Duration pause = options.wait ? Duration{options.log ? 1s : 30s} : Duration{};
        DORMOUSE_TRY_ASSIGN(const auto operation, context.client().get_operation(options.id, pause));
        if (options.log) {
            DORMOUSE_TRY(print_log(context, options.id, offset));
        }
        if (options.wait && operation.state == "running") continue;
        if (!options.log || context.json()) return show_one(context, operation);
        if (operation.error) context.complain(*operation.error);
        return operation.error ? exit_code_of(operation.error->code) : kOk;
    }
}

Action declare_show(CLI::App& app) {
    auto options = std::make_shared<ShowOptions>();
    app.add_option("ID", options->id, "As `operations list` shows it")->required();
    app.add_flag("--wait", options->wait, "Until it has ended");
    app.add_flag("--log", options->log, "What it has said; with --wait as it comes");
    return [options](Context& context) { return show(context, *options); };
}

// ---- cancel

Action declare_cancel(CLI::App& app) {
    auto id = std::make_shared<std::string>();
    app.add_option("ID", *id, "As `operations list` shows it")->required();
    return [id](Context& context) -> Result<int> {
        DORMOUSE_TRY_ASSIGN(const auto operation, context.client().cancel_operation(*id));
        if (context.json()) {
            context.print_line(schema::to_json(operation));
        } else {
            context.print_line(fmt::format("{} was asked to end", plain(operation.id)));
        }
        return kOk;
    };
}

}  // namespace

Verb operations_list_verb() {
    return {.name = "operations list",
            .arguments = "",
            .summary = "Show what is in progress, and what has ended lately",
            .examples = {"operations list"},
            .declare = [](CLI::App&) -> Action { return list; }};
}

Verb operations_show_verb() {
    return {.name = "operations show",
            .arguments = "ID [--wait] [--log]",
            .summary = "Show one operation, its log, or wait for its end",
            .examples = {"operations show op-0a1b2c3d4e5f", "operations show op-0a1b2c3d4e5f --log --wait"},
            .details = "The exit code is that of its error once it has failed.",
            .declare = declare_show};
}

Verb operations_cancel_verb() {
    return {.name = "operations cancel",
            .arguments = "ID",
            .summary = "Ask an operation to end",
            .examples = {"operations cancel op-0a1b2c3d4e5f"},
            .declare = declare_cancel};
}

}  // namespace dormouse::cli

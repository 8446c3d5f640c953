// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"
#include "hostd/schema/time.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string desktop;
    std::string token;
    std::string command;
    std::string outcome;
    std::string since;
    std::string until;
    int limit = 50;
};

std::optional<std::string> unless_empty(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional{text};
}

Result<std::optional<WallTime>> read_time(const std::string& option, const std::string& text) {
    if (text.empty()) return std::optional<WallTime>{};
    const auto time = schema::parse_time(text);
    if (time) return std::optional{*time};
    return fail(Errc::InvalidArgument, fmt::format("{}: {}", option, time.error().message),
                time.error().hint);
}

// Pages until there are as many as wanted.
Result<schema::AuditPage> collect(Context& context, client::AuditQuery query, int wanted) {
    schema::AuditPage all;
    do {
        query.limit = std::min(wanted - static_cast<int>(all.entries.size()), 1000);
        query.cursor = all.next_cursor;
        DORMOUSE_TRY_ASSIGN(auto page, context.client().list_audit(query));
        std::move(page.entries.begin(), page.entries.end(), std::back_inserter(all.entries));
        all.next_cursor = std::move(page.next_cursor);
    } while (all.next_cursor && static_cast<int>(all.entries.size()) < wanted);
    return all;
}

Result<int> audit(Context& context, const Options& options) {
    client::AuditQuery query{.desktop = unless_empty(options.desktop),
                             .token = unless_empty(options.token),
                             .command = unless_empty(options.command),
                             .outcome = unless_empty(options.outcome),
                             .since = {},
                             .until = {},
                             .cursor = {}};
    DORMOUSE_TRY_ASSIGN(query.since, read_time("--since", options.since));
    DORMOUSE_TRY_ASSIGN(query.until, read_time("--until", options.until));
    DORMOUSE_TRY_ASSIGN(const auto page, collect(context, std::move(query), options.limit));
    if (context.json()) {
        context.print_line(schema::to_json(page));
        return kOk;
    }
    Table table{{"TIME", "TOKEN", "DESKTOP", "COMMAND", "OUTCOME", "TIMES", "TOOK", "DETAIL"}};
    for (const auto& entry : page.entries)
        table.add({schema::format_time(entry.at),
                   entry.token.value_or("-"),
                   entry.desktop.value_or("-"),
                   {entry.command, Style::Bold},
                   {entry.outcome, entry.outcome == "ok" ? Style::None : Style::Red},
                   std::to_string(entry.count),
                   fmt::format("{} ms", entry.took.count()),
                   {entry.detail, Style::Dim}});
    context.print(table.render(context.streams().colour));
    if (page.next_cursor) context.note("there are more: --limit N");
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("--desktop", options->desktop, "About this one: name or id")->option_text(" NAME");
    app.add_option("--token", options->token, "By this one")->option_text(" ID");
    app.add_option("--command", options->command, "\"desktop.act\", or \"desktop.\" for all that begin so")
        ->option_text(" C");
    app.add_option("--outcome", options->outcome, "ok, failed, or the code of an error")->option_text(" O");
    app.add_option("--since", options->since, "From this time on: 2026-11-30T12:00:00Z")
        ->option_text(" TIME");
    app.add_option("--until", options->until, "Before this time")->option_text(" TIME");
    app.add_option("--limit", options->limit, "How many (50 when not given)")
        ->option_text(" N")
        ->check(CLI::Range(1, 1'000'000));
    return [options](Context& context) { return audit(context, *options); };
}

}  // namespace

Verb audit_verb() {
    return {.name = "audit",
            .arguments = "[--desktop NAME] [--token ID] [--outcome O] ...",
            .summary = "Show what was asked for, by whom, and what came of it",
            .examples = {"audit --desktop research --outcome failed", "audit --limit 1000 --json"},
            .details = "The newest first. Looks that were repeated within a minute are one line.",
            .declare = declare};
}

}  // namespace dormouse::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <charconv>
#include <ostream>

#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"
#include "hostd/schema/schema.h"
#include "hostd/schema/time.h"

namespace dormouse::cli {

namespace {

// ---- create

struct Options {
    std::string name;
    std::string scope = "agent";
    schema::TokenLimits limits;
    std::string label;
    std::string expires;
};

// "30d", "12h", "45m" from now, or a time.
Result<WallTime> read_expiry(const std::string& text, WallTime now) {
    std::int64_t number = 0;
    const auto* const last = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), last, number);
    if (error == std::errc{} && stop + 1 == last && number > 0 && number < 100'000) {
        if (*stop == 'd') return now + std::chrono::hours{24 * number};
        if (*stop == 'h') return now + std::chrono::hours{number};
        if (*stop == 'm') return now + std::chrono::minutes{number};
    }
    const auto time = schema::parse_time(text);
    if (time) return *time;
    return fail(Errc::InvalidArgument, fmt::format("'{}' is neither a time nor how long from now", text),
                "for example 30d, 12h, 45m or 2026-12-31T00:00:00Z");
}

std::string limits_of(const schema::Token& token) {
    std::string text;
    const auto add = [&](std::string_view what, const std::string& value) {
        if (!value.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", what, value);
    };
    add("desktops", fmt::format("{}", fmt::join(token.limits.desktops, " ")));
    add("label", token.limits.label.value_or(""));
    add("commands", fmt::format("{}", fmt::join(token.limits.commands, " ")));
    return text.empty() ? "-" : text;
}

// The secret alone goes to standard output: TOKEN=$(dormouse token create ci).
Result<int> create(Context& context, const Options& options) {
    schema::CreateTokenRequest request{
        .name = options.name, .scope = options.scope, .limits = options.limits, .expires_at = {}};
    if (!options.label.empty()) request.limits.label = options.label;
    if (!options.expires.empty()) {
        DORMOUSE_TRY_ASSIGN(request.expires_at, read_expiry(options.expires, context.clock().wall()));
    }
    DORMOUSE_TRY_ASSIGN(const auto made, context.client().create_token(request));
    if (context.json()) {
        context.print_line(schema::to_json(made));
        return kOk;
    }
    context.print_line(made.secret.reveal_for_transport());
    context.streams().out.flush();
    context.note(fmt::format("  keep it: it is not shown again. To take it back: {}",
                             context.command("token delete " + made.token.id)));
    return kOk;
}

Action declare_create(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("NAME", options->name, "What you call it")->required();
    app.add_option("--scope", options->scope,
                   "viewer: only looks; agent: all about desktops (when not given); admin: tokens too")
        ->option_text(" viewer|agent|admin")
        ->check(CLI::IsMember({"viewer", "agent", "admin"}));
    app.add_option("--desktop", options->limits.desktops,
                   "Only for this desktop, by name or id; others are not "
                   "there for it; may be given several times")
        ->option_text(" NAME")
        ->expected(1)
        ->take_all();
    app.add_option("--label", options->label, "Only for desktops with this label; those it makes get it")
        ->option_text(" KEY=VALUE");
    app.add_option("--commands", options->limits.commands,
                   "Only these groups: look, act, create, lifecycle, delete, network, templates")
        ->option_text(" GROUP,...")
        ->delimiter(',')
        ->expected(1)
        ->take_all();
    app.add_option("--expires", options->expires, "When it ends: 30d, 12h, or a time")->option_text(" WHEN");
    return [options](Context& context) { return create(context, *options); };
}

// ---- list

Result<int> list(Context& context) {
    DORMOUSE_TRY_ASSIGN(const auto all, context.client().list_tokens());
    if (context.json()) {
        context.print_line(schema::to_json(all));
        return kOk;
    }
    const auto now = context.clock().wall();
    Table table{{"ID", "NAME", "SCOPE", "LIMITED TO", "CREATED", "LAST USED", "EXPIRES"}};
    for (const auto& token : all.tokens)
        table.add({token.id,
                   {token.name, Style::Bold},
                   token.scope,
                   limits_of(token),
                   relative_time(token.created_at, now),
                   token.last_used_at ? relative_time(*token.last_used_at, now) : "never",
                   token.expires_at ? schema::format_time(*token.expires_at) : "never"});
    context.print(table.render(context.streams().colour));
    return kOk;
}

// ---- delete

Result<int> remove(Context& context, const std::string& id) {
    DORMOUSE_TRY(context.client().delete_token(id));
    if (context.json())
        context.print_line(schema::write_json(schema::Json{{"deleted", schema::Json::array({id})}}));
    else
        context.print_line(fmt::format("{} is gone", plain(id)));
    return kOk;
}

Action declare_delete(CLI::App& app) {
    auto id = std::make_shared<std::string>();
    app.add_option("ID", *id, "As `token list` shows it")->required();
    return [id](Context& context) { return remove(context, *id); };
}

}  // namespace

Verb token_create_verb() {
    return {.name = "token create",
            .arguments = "NAME [--scope viewer|agent|admin] [--desktop NAME] [--label KEY=VALUE] ...",
            .summary = "Make a token for a program or a person",
            .examples = {"token create my-agent", "token create searcher --label team=search --expires 30d",
                         "token create screen --scope viewer --desktop research"},
            .declare = declare_create};
}

Verb token_list_verb() {
    return {.name = "token list",
            .arguments = "",
            .summary = "Show all tokens, without their secrets",
            .examples = {"token list"},
            .declare = [](CLI::App&) -> Action { return list; }};
}

Verb token_delete_verb() {
    return {.name = "token delete",
            .arguments = "ID",
            .summary = "Take a token back; it is refused from then on",
            .examples = {"token delete t-1a2b3c4d5e"},
            .declare = declare_delete};
}

}  // namespace dormouse::cli

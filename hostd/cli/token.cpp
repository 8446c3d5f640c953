// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

// ---- create

struct Options {
    std::string name;
    std::string scope = "agent";
};

// The secret alone goes to standard output: TOKEN=$(dormouse token create ci).
Result<int> create(Context& context, const Options& options) {
    DORMOUSE_TRY_ASSIGN(const auto made, context.client().create_token({options.name, options.scope}));
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
    app.add_option("--scope", options->scope, "agent: all about desktops (when not given); admin: tokens too")
        ->option_text(" agent|admin")
        ->check(CLI::IsMember({"agent", "admin"}));
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
    Table table{{"ID", "NAME", "SCOPE", "CREATED", "LAST USED"}};
    for (const auto& token : all.tokens)
        table.add({token.id,
                   {token.name, Style::Bold},
                   token.scope,
                   relative_time(token.created_at, now),
                   token.last_used_at ? relative_time(*token.last_used_at, now) : "never"});
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
            .arguments = "NAME [--scope agent|admin]",
            .summary = "Make a token for a program or a person",
            .examples = {"token create my-agent"},
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

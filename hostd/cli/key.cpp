// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    std::vector<std::string> keys;
};

// All in one request: when one of the names is wrong, none is pressed.
Result<int> press(Context& context, const Options& options) {
    schema::ActionsRequest request;
    for (const auto& key : options.keys)
        request.actions.push_back({.kind = schema::ActionKind::Key, .text = key});
    if (request.actions.size() > schema::kMostActions)
        return fail(Errc::InvalidArgument, fmt::format("these are more than {} keys", schema::kMostActions));
    DORMOUSE_TRY_ASSIGN(const auto response, context.client().act(options.name, request));
    if (response.failure) return fail(response.failure->error);
    if (context.json())
        context.print_line(schema::to_json(response));
    else
        context.note(fmt::format("key: {} pressed", response.results.size()));
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("KEYS", options->keys, "Keys, or keys held together, one after the other")->required();
    return [options](Context& context) { return press(context, *options); };
}

}  // namespace

Verb key_verb() {
    return {
        .name = "key",
        .arguments = "NAME KEYS...",
        .summary = "Press keys",
        .examples = {"key research Return", "key research ctrl+l", "key research Down Down Return"},
        .details =
            "Keys are named as xdotool does: a, Return, Escape, Tab, BackSpace, Page_Down, F5, ctrl+shift+t.",
        .declare = declare};
}

}  // namespace dormouse::cli

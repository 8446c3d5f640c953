// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    std::vector<std::string> keys;
    std::optional<int> repeat;
    ActFlags flags;
};

// All in one request: when one of the names is wrong, none is pressed.
Result<int> press(Context& context, const Options& options) {
    std::vector<schema::Action> actions;
    for (const auto& key : options.keys)
        actions.push_back({.kind = schema::ActionKind::Key, .text = key, .repeat = options.repeat});
    auto note = fmt::format("key: {} pressed", actions.size());
    return act(context, options.name, std::move(actions), options.flags, std::move(note));
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("KEYS", options->keys, "Keys, or keys held together, one after the other")->required();
    app.add_option("--repeat", options->repeat, "Press each so many times, 1 to 100")
        ->option_text(" N")
        ->check(CLI::Range(1, schema::kMostRepeats));
    add_act_flags(app, options->flags);
    return [options](Context& context) { return press(context, *options); };
}

struct HoldOptions {
    std::string name;
    std::string keys;
    double seconds = 1;
    ActFlags flags;
};

Result<int> hold(Context& context, const HoldOptions& options) {
    return act(
        context, options.name,
        {{.kind = schema::ActionKind::HoldKey,
          .text = options.keys,
          .duration = std::chrono::duration_cast<Duration>(std::chrono::duration<double>{options.seconds})}},
        options.flags);
}

Action declare_hold(CLI::App& app) {
    auto options = std::make_shared<HoldOptions>();
    add_desktop(app, options->name);
    app.add_option("KEYS", options->keys, "A key, or keys held together")->required();
    app.add_option("SECONDS", options->seconds, "How long")
        ->required()
        ->check(CLI::Range(0.0, static_cast<double>(schema::kLongestWait.count())));
    add_act_flags(app, options->flags);
    return [options](Context& context) { return hold(context, *options); };
}

}  // namespace

Verb key_verb() {
    return {.name = "key",
            .arguments = "NAME KEYS... [--repeat N]",
            .summary = "Press keys",
            .examples = {"key research Return", "key research ctrl+l", "key research Down Down Return",
                         "key research Tab --repeat 5"},
            .details =
                "Keys are named as xdotool, Playwright, OpenAI's and E2B's tools do, in any case:\n"
                "a, Return, ENTER, ArrowLeft, Page_Down, F5, KP_7, ctrl+shift+t, Control+KeyA, cmd.",
            .declare = declare};
}

Verb hold_key_verb() {
    return {.name = "hold-key",
            .arguments = "NAME KEYS SECONDS",
            .summary = "Hold keys down for a while",
            .examples = {"hold-key research Right 2", "hold-key research shift+w 1.5"},
            .declare = declare_hold};
}

}  // namespace dormouse::cli

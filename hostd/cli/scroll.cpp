// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    std::string direction;
    int amount = 3;  // what a turn of the wheel scrolls in most programs is a few lines
    std::vector<int> at;
};

Result<int> scroll(Context& context, const Options& options) {
    schema::Action action{.kind = schema::ActionKind::Scroll};
    action.scroll_direction =
        options.direction == "up" ? schema::ScrollDirection::Up : schema::ScrollDirection::Down;
    action.scroll_amount = options.amount;
    if (options.at.size() == 2) action.coordinate = schema::Point{options.at[0], options.at[1]};
    return act(context, options.name, std::move(action));
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("DIRECTION", options->direction, "up or down")
        ->required()
        ->check(CLI::IsMember({"up", "down"}));
    app.add_option("AMOUNT", options->amount, "Clicks of the wheel, 1 to 100 (3 when not given)")
        ->check(CLI::Range(1, schema::kMostScroll));
    app.add_option("--at", options->at, "Move the pointer there before")
        ->option_text(" X Y")
        ->expected(2)
        ->allow_extra_args(false);
    return [options](Context& context) { return scroll(context, *options); };
}

}  // namespace

Verb scroll_verb() {
    return {.name = "scroll",
            .arguments = "NAME up|down [AMOUNT] [--at X Y]",
            .summary = "Turn the wheel",
            .examples = {"scroll research down", "scroll research up 10 --at 640 400"},
            .declare = declare};
}

}  // namespace dormouse::cli

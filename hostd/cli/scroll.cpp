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
    std::optional<std::string> modifiers;
    ActFlags flags;
};

schema::ScrollDirection direction_of(const std::string& word) {
    if (word == "up") return schema::ScrollDirection::Up;
    if (word == "left") return schema::ScrollDirection::Left;
    if (word == "right") return schema::ScrollDirection::Right;
    return schema::ScrollDirection::Down;
}

Result<int> scroll(Context& context, const Options& options) {
    schema::Action action{.kind = schema::ActionKind::Scroll};
    action.scroll_direction = direction_of(options.direction);
    action.scroll_amount = options.amount;
    action.text = options.modifiers;
    if (options.at.size() == 2) action.coordinate = schema::Point{options.at[0], options.at[1]};
    return act(context, options.name, {std::move(action)}, options.flags);
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("DIRECTION", options->direction, "up, down, left or right")
        ->required()
        ->check(CLI::IsMember({"up", "down", "left", "right"}));
    app.add_option("AMOUNT", options->amount, "Clicks of the wheel, 1 to 100 (3 when not given)")
        ->check(CLI::Range(1, schema::kMostScroll));
    app.add_option("--at", options->at, "Move the pointer there before")
        ->option_text(" X Y")
        ->expected(2)
        ->allow_extra_args(false);
    add_modifiers(app, options->modifiers);
    add_act_flags(app, options->flags);
    return [options](Context& context) { return scroll(context, *options); };
}

}  // namespace

Verb scroll_verb() {
    return {.name = "scroll",
            .arguments = "NAME up|down|left|right [AMOUNT] [--at X Y]",
            .summary = "Turn the wheel",
            .examples = {"scroll research down", "scroll research up 10 --at 640 400",
                         "scroll research right 5", "scroll research up 3 --modifiers ctrl"},
            .declare = declare};
}

}  // namespace dormouse::cli

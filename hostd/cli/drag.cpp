// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    std::vector<int> numbers;
    std::optional<std::string> modifiers;
    ActFlags flags;
};

Result<int> drag(Context& context, const Options& options) {
    const auto& numbers = options.numbers;
    if (numbers.size() < 4 || numbers.size() % 2 != 0)
        return fail(Errc::InvalidArgument, "these are not the X and Y of two or more places",
                    "for example: drag research 100 100 400 300");
    schema::Action action{.kind = schema::ActionKind::LeftClickDrag, .text = options.modifiers};
    action.start_coordinate = schema::Point{numbers[0], numbers[1]};
    for (std::size_t i = 2; i < numbers.size(); i += 2) action.path.push_back({numbers[i], numbers[i + 1]});
    if (action.path.size() == 1) {
        action.coordinate = action.path.front();
        action.path.clear();
    }
    return act(context, options.name, {std::move(action)}, options.flags);
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("PLACES", options->numbers,
                   "X and Y of where the button goes down, of places on the way, and of where it comes up")
        ->required()
        ->expected(4, 2000);
    add_modifiers(app, options->modifiers);
    add_act_flags(app, options->flags);
    return [options](Context& context) { return drag(context, *options); };
}

}  // namespace

Verb drag_verb() {
    return {.name = "drag",
            .arguments = "NAME X1 Y1 [X Y ...] X2 Y2",
            .summary = "Drag with the left button from one pixel to another, or along a path",
            .examples = {"drag research 100 100 400 300", "drag research 100 100 200 100 200 300",
                         "drag research 100 100 400 300 --modifiers shift"},
            .declare = declare};
}

}  // namespace dormouse::cli

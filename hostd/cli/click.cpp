// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

using schema::ActionKind;

struct Options {
    std::string name;
    std::optional<int> x;
    std::optional<int> y;
    bool right = false, middle = false, back = false, forward = false, twice = false, thrice = false;
    std::optional<std::string> modifiers;
    std::optional<int> repeat;
    ActFlags flags;
};

ActionKind kind_of(const Options& options) {
    if (options.right) return ActionKind::RightClick;
    if (options.middle) return ActionKind::MiddleClick;
    if (options.back) return ActionKind::BackClick;
    if (options.forward) return ActionKind::ForwardClick;
    if (options.twice) return ActionKind::DoubleClick;
    if (options.thrice) return ActionKind::TripleClick;
    return ActionKind::LeftClick;
}

Result<int> click(Context& context, const Options& options) {
    schema::Action action{.kind = kind_of(options), .text = options.modifiers, .repeat = options.repeat};
    DORMOUSE_TRY_ASSIGN(action.coordinate, place(options.x, options.y));
    return act(context, options.name, {std::move(action)}, options.flags);
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("X", options->x, "Pixels from the left; where the pointer is when not given");
    app.add_option("Y", options->y, "Pixels from the top");
    const std::vector<CLI::Option*> kinds{
        app.add_flag("--right", options->right, "With the right button"),
        app.add_flag("--middle", options->middle, "With the middle button"),
        app.add_flag("--back", options->back, "With the mouse's back button"),
        app.add_flag("--forward", options->forward, "With the mouse's forward button"),
        app.add_flag("--double", options->twice, "Twice"),
        app.add_flag("--triple", options->thrice, "Three times")};
    for (auto* one : kinds)
        for (auto* other : kinds)
            if (one != other) one->excludes(other);
    app.add_option("--repeat", options->repeat, "So many clicks that are no double clicks, 1 to 100")
        ->option_text(" N")
        ->check(CLI::Range(1, schema::kMostRepeats))
        ->excludes(kinds[4])
        ->excludes(kinds[5]);
    add_modifiers(app, options->modifiers);
    add_act_flags(app, options->flags);
    return [options](Context& context) { return click(context, *options); };
}

}  // namespace

Verb click_verb() {
    return {.name = "click",
            .arguments = "NAME [X Y] [--right|--middle|--back|--forward|--double|--triple]",
            .summary = "Click at a pixel of the screen, or where the pointer is",
            .examples = {"click research 640 400", "click research 640 400 --double",
                         "click research 640 400 --modifiers ctrl",
                         "click research 640 400 --screenshot settled now.png"},
            .declare = declare};
}

}  // namespace dormouse::cli

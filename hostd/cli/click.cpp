// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    schema::Point at;
    bool right = false;
    bool twice = false;
};

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("X", options->at.x, "Pixels from the left")->required();
    app.add_option("Y", options->at.y, "Pixels from the top")->required();
    auto* right = app.add_flag("--right", options->right, "With the right button");
    app.add_flag("--double", options->twice, "Twice")->excludes(right);
    return [options](Context& context) {
        const auto kind = options->right   ? schema::ActionKind::RightClick
                          : options->twice ? schema::ActionKind::DoubleClick
                                           : schema::ActionKind::LeftClick;
        return act(context, options->name, {.kind = kind, .coordinate = options->at});
    };
}

}  // namespace

Verb click_verb() {
    return {.name = "click",
            .arguments = "NAME X Y [--right|--double]",
            .summary = "Click at a pixel of the screen",
            .examples = {"click research 640 400", "click research 640 400 --double"},
            .declare = declare};
}

}  // namespace dormouse::cli

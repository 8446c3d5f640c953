// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    schema::Point to;
};

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("X", options->to.x, "Pixels from the left")->required();
    app.add_option("Y", options->to.y, "Pixels from the top")->required();
    return [options](Context& context) {
        return act(context, options->name,
                   {.kind = schema::ActionKind::MouseMove, .coordinate = options->to});
    };
}

}  // namespace

Verb move_verb() {
    return {.name = "move",
            .arguments = "NAME X Y",
            .summary = "Move the pointer to a pixel of the screen",
            .examples = {"move research 640 400"},
            .declare = declare};
}

}  // namespace dormouse::cli

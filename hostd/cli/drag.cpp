// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    schema::Point from;
    schema::Point to;
};

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("X1", options->from.x, "Where the button goes down: pixels from the left")->required();
    app.add_option("Y1", options->from.y, "and from the top")->required();
    app.add_option("X2", options->to.x, "Where it comes up: pixels from the left")->required();
    app.add_option("Y2", options->to.y, "and from the top")->required();
    return [options](Context& context) {
        return act(context, options->name,
                   {.kind = schema::ActionKind::LeftClickDrag,
                    .coordinate = options->to,
                    .start_coordinate = options->from});
    };
}

}  // namespace

Verb drag_verb() {
    return {.name = "drag",
            .arguments = "NAME X1 Y1 X2 Y2",
            .summary = "Drag with the left button from one pixel to another",
            .examples = {"drag research 100 100 400 300"},
            .declare = declare};
}

}  // namespace dormouse::cli

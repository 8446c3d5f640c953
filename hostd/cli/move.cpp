// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct MoveOptions {
    std::string name;
    schema::Point to;
    std::optional<std::string> modifiers;
    ActFlags flags;
};

Action declare_move(CLI::App& app) {
    auto options = std::make_shared<MoveOptions>();
    add_desktop(app, options->name);
    app.add_option("X", options->to.x, "Pixels from the left")->required();
    app.add_option("Y", options->to.y, "Pixels from the top")->required();
    add_modifiers(app, options->modifiers);
    add_act_flags(app, options->flags);
    return [options](Context& context) {
        return act(
            context, options->name,
            {{.kind = schema::ActionKind::MouseMove, .coordinate = options->to, .text = options->modifiers}},
            options->flags);
    };
}

struct ButtonOptions {
    std::string name;
    std::optional<int> x;
    std::optional<int> y;
    ActFlags flags;
};

Result<int> button(Context& context, schema::ActionKind kind, const ButtonOptions& options) {
    schema::Action action{.kind = kind};
    DORMOUSE_TRY_ASSIGN(action.coordinate, place(options.x, options.y));
    return act(context, options.name, {std::move(action)}, options.flags);
}

Action declare_button(CLI::App& app, schema::ActionKind kind) {
    auto options = std::make_shared<ButtonOptions>();
    add_desktop(app, options->name);
    app.add_option("X", options->x, "Move there before: pixels from the left");
    app.add_option("Y", options->y, "and from the top");
    add_act_flags(app, options->flags);
    return [options, kind](Context& context) { return button(context, kind, *options); };
}

Action declare_down(CLI::App& app) {
    return declare_button(app, schema::ActionKind::LeftMouseDown);
}
Action declare_up(CLI::App& app) {
    return declare_button(app, schema::ActionKind::LeftMouseUp);
}

Result<int> tell(Context& context, const std::string& name) {
    schema::ActionsRequest request;
    request.actions.push_back({.kind = schema::ActionKind::CursorPosition});
    DORMOUSE_TRY_ASSIGN(const auto response, context.client().act(name, request));
    if (response.failure) return fail(response.failure->error);
    if (context.json()) {
        context.print_line(schema::to_json(response));
        return kOk;
    }
    if (response.results.empty() || !response.results.front().position)
        return fail(Errc::Corrupt, "the daemon did not say where the pointer is");
    const auto at = *response.results.front().position;
    context.print_line(fmt::format("{} {}", at.x, at.y));
    return kOk;
}

Action declare_cursor(CLI::App& app) {
    auto name = std::make_shared<std::string>();
    add_desktop(app, *name);
    return [name](Context& context) { return tell(context, *name); };
}

}  // namespace

Verb move_verb() {
    return {.name = "move",
            .arguments = "NAME X Y",
            .summary = "Move the pointer to a pixel of the screen",
            .examples = {"move research 640 400"},
            .declare = declare_move};
}

Verb mouse_down_verb() {
    return {
        .name = "mouse-down",
        .arguments = "NAME [X Y]",
        .summary = "Press the left button and keep it down",
        .examples = {"mouse-down research 100 100"},
        .details = "It comes up with mouse-up, when an action fails, and after a minute without an action.",
        .declare = declare_down};
}

Verb mouse_up_verb() {
    return {.name = "mouse-up",
            .arguments = "NAME [X Y]",
            .summary = "Let the left button go",
            .examples = {"mouse-up research 400 300"},
            .declare = declare_up};
}

Verb cursor_verb() {
    return {.name = "cursor",
            .arguments = "NAME",
            .summary = "Say where the pointer is",
            .examples = {"cursor research"},
            .declare = declare_cursor};
}

}  // namespace dormouse::cli

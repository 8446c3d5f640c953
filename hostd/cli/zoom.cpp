// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/act.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    schema::Box region;
    std::string file;
    std::vector<int> size;
};

Result<int> zoom(Context& context, const Options& options) {
    const auto file = options.file.empty() ? options.name + "-zoom.png" : options.file;
    schema::Action action{.kind = schema::ActionKind::Zoom, .region = options.region};
    if (options.size.size() == 2) action.size = schema::Size{options.size[0], options.size[1]};
    schema::ActionsRequest request;
    request.actions.push_back(std::move(action));
    request.image.format = format_of(file);
    DORMOUSE_TRY_ASSIGN(const auto response, context.client().act(options.name, request));
    if (response.failure) return fail(response.failure->error);
    if (response.results.empty() || !response.results.front().image)
        return fail(Errc::Corrupt, "the daemon sent no picture");
    const auto& image = *response.results.front().image;
    DORMOUSE_TRY(save_picture(file, image.data));
    if (context.json())
        context.print_line(schema::write_json(schema::Json{
            {"file", file}, {"width", image.width}, {"height", image.height}, {"bytes", image.data.size()}}));
    else
        context.print_line(fmt::format("{}: {}×{}, {}", plain(file), image.width, image.height,
                                       human_size(image.data.size())));
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("X1", options->region.left, "The part's left edge: pixels from the left")->required();
    app.add_option("Y1", options->region.top, "Its top edge: pixels from the top")->required();
    app.add_option("X2", options->region.right, "Its right edge")->required();
    app.add_option("Y2", options->region.bottom, "Its bottom edge")->required();
    app.add_option("FILE", options->file, "Where to put it (NAME-zoom.png when not given)");
    app.add_option("--size", options->size, "How large the picture shall be; else as large as the screen")
        ->option_text(" W H")
        ->expected(2)
        ->allow_extra_args(false);
    return [options](Context& context) { return zoom(context, *options); };
}

}  // namespace

Verb zoom_verb() {
    return {.name = "zoom",
            .arguments = "NAME X1 Y1 X2 Y2 [FILE]",
            .summary = "Save a part of the screen, enlarged",
            .examples = {"zoom research 0 0 320 200", "zoom research 0 0 320 200 part.png --size 960 600"},
            .declare = declare};
}

}  // namespace dormouse::cli

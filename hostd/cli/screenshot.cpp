// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <ostream>

#include "hostd/base/file.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    std::string file;
};

Result<> save(const std::string& file, const std::string& png) {
    // As any program makes files: what the umask leaves of 0666.
    DORMOUSE_TRY_ASSIGN(const auto fd, open_file(file, O_WRONLY | O_CREAT | O_TRUNC, 0666));
    if (const auto written = write_all(fd.get(), png); !written) return fail_in(file, written.error());
    return {};
}

Result<int> take(Context& context, const Options& options) {
    const bool to_output = options.file == "-";
    if (to_output && context.streams().out_is_terminal)
        return fail(Errc::InvalidArgument, "a picture would only confuse this terminal",
                    fmt::format("name a file, or send it on: {} | ...",
                                context.command(fmt::format("screenshot {} -", options.name))));
    if (to_output && context.json())
        return fail(Errc::InvalidArgument, "--json does not go with a picture on standard output");

    DORMOUSE_TRY_ASSIGN(const auto shot, context.client().screenshot(options.name));
    if (to_output) {
        context.print(shot.png);
        return kOk;
    }
    const auto file = options.file.empty() ? options.name + ".png" : options.file;
    DORMOUSE_TRY(save(file, shot.png));
    if (context.json())
        context.print_line(schema::write_json(schema::Json{
            {"file", file}, {"width", shot.width}, {"height", shot.height}, {"bytes", shot.png.size()}}));
    else
        context.print_line(
            fmt::format("{}: {}×{}, {}", plain(file), shot.width, shot.height, human_size(shot.png.size())));
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("FILE", options->file, "Where to put it (NAME.png when not given); - is standard output");
    return [options](Context& context) { return take(context, *options); };
}

}  // namespace

Verb screenshot_verb() {
    return {.name = "screenshot",
            .arguments = "NAME [FILE|-]",
            .summary = "Save what the screen shows, as PNG",
            .examples = {"screenshot research", "screenshot research /tmp/now.png"},
            .declare = declare};
}

}  // namespace dormouse::cli

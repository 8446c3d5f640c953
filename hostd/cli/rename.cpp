// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    std::string new_name;
};

Result<int> rename(Context& context, const Options& options) {
    schema::UpdateDesktopRequest request;
    request.name = options.new_name;
    DORMOUSE_TRY_ASSIGN(const auto desktop, context.client().update_desktop(options.name, request));
    if (context.json()) {
        context.print_line(schema::to_json(desktop));
        return kOk;
    }
    context.print_line(fmt::format("{} is now {}", plain(options.name), plain(desktop.name)));
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("NEW", options->new_name, "Its new name: a-z, 0-9 and -, from a letter on")->required();
    return [options](Context& context) { return rename(context, *options); };
}

}  // namespace

Verb rename_verb() {
    return {.name = "rename",
            .arguments = "NAME NEW",
            .summary = "Give a desktop another name; its id stays",
            .examples = {"rename quiet-otter research"},
            .declare = declare};
}

}  // namespace dormouse::cli

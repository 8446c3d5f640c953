// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "hostd/base/labels.h"
#include "hostd/cli/progress.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    std::string image;
    std::vector<std::string> labels;
    std::string network;
};

Result<schema::Desktop> create_and_wait(Context& context, const schema::CreateDesktopRequest& request) {
    const Progress progress{context.streams(), fmt::format("making {}", request.name.value_or("a desktop"))};
    return context.client().create_desktop(request);
}

// The name alone goes to standard output: NAME=$(dormouse create).
Result<int> create(Context& context, const Options& options) {
    schema::CreateDesktopRequest request;
    if (!options.name.empty()) request.name = options.name;
    if (!options.image.empty()) request.image = options.image;
    for (const auto& text : options.labels) {
        DORMOUSE_TRY_ASSIGN(const auto label, parse_label_filter(text));
        if (!label.value)
            return fail(Errc::InvalidArgument, fmt::format("the label '{}' has no value", text),
                        "write --label key=value");
        request.labels.insert_or_assign(label.key, *label.value);
    }
    if (!options.network.empty()) request.network = schema::Network{options.network};
    DORMOUSE_TRY_ASSIGN(const auto desktop, create_and_wait(context, request));
    if (context.json()) {
        context.print_line(schema::to_json(desktop));
        return kOk;
    }
    context.print_line(plain(desktop.name));
    context.streams().out.flush();
    context.note("  it is ready; watch it: " + context.page_link(desktop.name));
    context.note("  a picture of it:       " + context.command("screenshot " + desktop.name));
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("NAME", options->name,
                   "Its name: a-z, 0-9 and -, from a letter on (made up when not given)")
        ->check(not_empty());  // an unset variable is a mistake, not a wish
    app.add_option("--template", options->image, "What to make it from (desktop when not given)")
        ->option_text(" T");
    app.add_option("--label", options->labels, "A label to find it by; may be given several times")
        ->option_text(" KEY=VALUE")
        ->expected(1)
        ->take_all();
    app.add_option("--network", options->network,
                   "What it may reach: open, the internet (when not given), or none")
        ->option_text(" open|none")
        ->check(CLI::IsMember({"open", "none"}));
    return [options](Context& context) { return create(context, *options); };
}

}  // namespace

Verb create_verb() {
    return {.name = "create",
            .arguments = "[NAME] [--template T] [--label KEY=VALUE]... [--network open|none]",
            .summary = "Make a desktop and wait until it can be used",
            .examples = {"create research", "create research --label team=search", "create"},
            .declare = declare};
}

}  // namespace dormouse::cli

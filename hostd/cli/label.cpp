// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/labels.h"
#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

struct Options {
    std::string name;
    std::vector<std::string> changes;  // "key=value", or "key-" to remove it
};

Result<schema::UpdateDesktopRequest> read_changes(const std::vector<std::string>& changes) {
    schema::UpdateDesktopRequest request;
    for (const auto& text : changes) {
        const auto equals = text.find('=');
        const bool removes = equals == std::string::npos && text.ends_with('-');
        if (equals == std::string::npos && !removes)
            return fail(Errc::InvalidArgument, fmt::format("'{}' is no change of a label", text),
                        "write key=value to set it, key- to remove it");
        const auto key = removes ? text.substr(0, text.size() - 1) : text.substr(0, equals);
        DORMOUSE_TRY(check_label_key(key));
        std::optional<std::string> value;
        if (!removes) value = text.substr(equals + 1);
        if (value) DORMOUSE_TRY(check_label_value(*value));
        if (!request.labels.emplace(key, std::move(value)).second)
            return fail(Errc::InvalidArgument, fmt::format("the label '{}' is given twice", key));
    }
    return request;
}

Result<int> label(Context& context, const Options& options) {
    DORMOUSE_TRY_ASSIGN(const auto request, read_changes(options.changes));
    auto answer = request.labels.empty() ? context.client().get_desktop(options.name)
                                         : context.client().update_desktop(options.name, request);
    if (!answer) return fail(answer.error());
    if (context.json()) {
        context.print_line(schema::to_json(*answer));
        return kOk;
    }
    if (answer->labels.empty()) context.note(plain(answer->name) + " has no labels");
    for (const auto& [key, value] : answer->labels)
        context.print_line(plain(fmt::format("{}={}", key, value)));
    return kOk;
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    add_desktop(app, options->name);
    app.add_option("CHANGE", options->changes, "key=value sets a label, key- removes it");
    return [options](Context& context) { return label(context, *options); };
}

}  // namespace

Verb label_verb() {
    return {.name = "label",
            .arguments = "NAME [KEY=VALUE|KEY-]...",
            .summary = "Show a desktop's labels, set and remove some",
            .examples = {"label research team=search", "label research team-", "label research"},
            .details = "Find desktops by them: list --label team=search.",
            .declare = declare};
}

}  // namespace dormouse::cli

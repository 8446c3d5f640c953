// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"

namespace dormouse::cli {

namespace {

// Goes on after one that could not be deleted. Gives the code of the first such.
Result<int> delete_all(Context& context, const std::vector<std::string>& names) {
    int code = kOk;
    auto deleted = schema::Json::array();
    auto failed = schema::Json::array();
    for (const auto& name : names) {
        const auto done = context.client().delete_desktop(name);
        if (!done) {
            const auto verdict = context.judge(done.error());
            context.complain(verdict.error);
            failed.push_back(schema::Json{
                {"name", name}, {"code", errc_name(verdict.error.code)}, {"message", verdict.error.message}});
            if (code == kOk) code = verdict.code;
            if (code == kUnreachable) break;
            continue;
        }
        deleted.push_back(name);
        if (!context.json()) context.print_line(fmt::format("{} is gone", plain(name)));
    }
    if (context.json())
        context.print_line(schema::write_json(schema::Json{{"deleted", deleted}, {"failed", failed}}));
    return code;
}

Action declare(CLI::App& app) {
    auto names = std::make_shared<std::vector<std::string>>();
    app.add_option("NAME", *names, kDesktopsDescription)->required()->check(not_empty());
    return [names](Context& context) { return delete_all(context, *names); };
}

}  // namespace

Verb delete_verb() {
    return {.name = "delete",
            .arguments = "NAME...",
            .summary = "Delete desktops, running or not, with their disks",
            .examples = {"delete research", "delete one two three"},
            .declare = declare};
}

}  // namespace dormouse::cli

// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"

namespace dormouse::cli {

namespace {

using Places = std::vector<std::pair<std::string, std::string>>;

Places places(const Context& context) {
    const auto& config = context.config();
    return {{"home", config.home.string()},           {"run", config.run.string()},
            {"token", config.admin_token().string()}, {"url", context.connection().url},
            {"log", config.daemon_log().string()},    {"templates", config.templates.string()}};
}

// Paths are printed as they are: scripts use them.
Result<int> where(Context& context, const std::string& what) {
    schema::Json json = schema::Json::object();
    Table table;
    for (const auto& [name, place] : places(context)) {
        if (!what.empty() && what != name) continue;
        if (!what.empty() && !context.json()) {
            context.print_line(place);
            return kOk;
        }
        json[name] = place;
        table.add({name, place});
    }
    context.print(context.json() ? schema::write_json(json) + "\n" : table.render(context.streams().colour));
    return kOk;
}

Action declare(CLI::App& app) {
    auto what = std::make_shared<std::string>();
    app.add_option("WHAT", *what, "home, run, token (the file), url, log or templates; all when not given")
        ->check(CLI::IsMember({"home", "run", "token", "url", "log", "templates"}));
    return [what](Context& context) { return where(context, *what); };
}

}  // namespace

Verb where_verb() {
    return {.name = "where",
            .arguments = "[home|run|token|url|log|templates]",
            .summary = "Show where things are",
            .examples = {"where log"},
            .declare = declare};
}

}  // namespace dormouse::cli

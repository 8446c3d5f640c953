// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/bench.h"

#include <algorithm>

#include "hostd/cli/progress.h"
#include "hostd/cli/verbs.h"

namespace dormouse::cli {

namespace {

struct Group {
    std::string_view name;
    Result<bench::Measurements> (*measure)(Context&, int);
};
constexpr Group kGroups[] = {
    {"create", bench::create},
    {"screenshot", bench::screenshot},
    {"actions", bench::actions},
    {"typing", bench::typing},
};

struct Options {
    std::vector<std::string> names;
    int count = 20;
};

Result<int> run(Context& context, const Options& options) {
    bench::Measurements all;
    for (const auto& group : kGroups) {
        const bool wanted =
            options.names.empty() || std::count(options.names.begin(), options.names.end(), group.name);
        if (!wanted) continue;
        Result<bench::Measurements> measured;
        {
            const Progress progress{context.streams(), fmt::format("measuring {}", group.name)};
            measured = group.measure(context, options.count);
        }
        if (!measured) return fail_in(fmt::format("measuring {}", group.name), measured.error());
        std::move(measured->begin(), measured->end(), std::back_inserter(all));
    }
    context.print_line(context.json() ? bench::to_json(all) : bench::to_table(all, context.streams().colour));
    return kOk;
}

std::string known_group(const std::string& name) {
    for (const auto& group : kGroups)
        if (name == group.name) return {};
    std::string names;
    for (const auto& group : kGroups) names += fmt::format("{}{}", names.empty() ? "" : ", ", group.name);
    return fmt::format("there is no measurement '{}'; there are: {}", name, names);
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    app.add_option("WHAT", options->names, "create, screenshot, actions, typing (all when not given)")
        ->check(CLI::Validator{known_group, ""});
    app.add_option("--count", options->count, "Samples of what takes little time (20)")
        ->check(CLI::Range(3, 1000));
    return [options](Context& context) { return run(context, *options); };
}

}  // namespace

Verb bench_verb() {
    return {.name = "bench",
            .arguments = "[WHAT...] [--count N]",
            .summary = "Measure how fast this host is",
            .examples = {"bench", "bench screenshot typing create --json"},
            .details =
                "Makes desktops of its own and deletes them. The usual way, a program inside the desktop, is "
                "measured in the same run. What is promised: docs/promises.md.",
            .declare = declare};
}

}  // namespace dormouse::cli

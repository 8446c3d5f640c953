// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

// A daemon that takes longer is not there, for scripts that ask again and again.
constexpr auto kTimeout = std::chrono::seconds{5};

Result<int> ping(Context& context) {
    context.client().set_timeout(kTimeout);
    const auto health = context.client().health();
    if (!health) {
        auto verdict = context.judge(health.error());
        context.complain(verdict.error);
        return kUnreachable;
    }
    if (context.json()) context.print_line(schema::to_json(*health));
    return kOk;
}

}  // namespace

Verb ping_verb() {
    return {.name = "ping",
            .arguments = "",
            .summary = "Ask whether the daemon answers; says nothing when it does",
            .examples = {"ping && echo yes"},
            .hidden = true,
            .declare = [](CLI::App&) -> Action { return ping; }};
}

}  // namespace dormouse::cli

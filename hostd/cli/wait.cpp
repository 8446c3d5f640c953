// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/wait.h"

#include "hostd/cli/progress.h"

namespace dormouse::cli {

namespace {

constexpr auto kPoll = std::chrono::milliseconds{200};
// The daemon gives up on a boot before this.
constexpr auto kLongestWait = std::chrono::minutes{15};

std::string why(const schema::Desktop& desktop) {
    return desktop.reason ? ": " + *desktop.reason : "";
}

// Nothing while it is on its way.
Result<bool> has_arrived(const schema::Desktop& desktop, Goal goal, std::optional<WallTime> before) {
    if (goal == Goal::Stopped) {
        if (desktop.state == "running" || desktop.state == "starting")
            return fail(Errc::Conflict, fmt::format("somebody started {} again", desktop.name));
        return desktop.state == "stopped" || desktop.state == "failed";
    }
    if (desktop.state == "failed")
        return fail(Errc::Internal, fmt::format("{} failed{}", desktop.name, why(desktop)));
    // On its way through a restart it is stopped for a moment.
    if (desktop.state == "stopped" && !before)
        return fail(Errc::Conflict, fmt::format("{} was stopped while it started", desktop.name));
    if (desktop.state != "running" || (before && desktop.started_at == before)) return false;
    if (!desktop.ready && desktop.reason)
        return fail(Errc::Timeout, fmt::format("{} runs, but is not ready{}", desktop.name, why(desktop)),
                    "it can be seen and clicked all the same");
    return desktop.ready;
}

}  // namespace

Result<schema::Desktop> wait_for(Context& context, const std::string& name, Goal goal,
                                 std::optional<WallTime> before) {
    const auto deadline = context.clock().now() + kLongestWait;
    Progress progress{context.streams(), name};
    for (;;) {
        DORMOUSE_TRY_ASSIGN(auto desktop, context.client().get_desktop(name));
        DORMOUSE_TRY_ASSIGN(const bool arrived, has_arrived(desktop, goal, before));
        if (arrived) return desktop;
        if (context.clock().now() > deadline)
            return fail(Errc::Timeout, fmt::format("{} is still {}", desktop.name, desktop.state));
        progress.set(fmt::format("{}: {}", desktop.name,
                                 desktop.state == "running" ? "waiting for its agent" : desktop.state));
        context.pause(kPoll);
    }
}

int report_state(Context& context, const schema::Desktop& desktop, std::string_view command, bool waited) {
    if (context.json()) {
        context.print_line(schema::to_json(desktop));
        return kOk;
    }
    context.print_line(fmt::format("{} is {}", plain(desktop.name), plain(desktop.state)));
    const bool on_its_way =
        desktop.state == "starting" || desktop.state == "stopping" || desktop.state == "creating";
    if (!waited && on_its_way)
        context.note("wait for it: " + context.command(fmt::format("{} {} --wait", command, desktop.name)));
    return kOk;
}

}  // namespace dormouse::cli

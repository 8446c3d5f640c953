// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "hostd/cli/verbs.h"
#include "hostd/schema/schema.h"
#include "hostd/schema/time.h"

namespace dormouse::cli {

namespace {

using namespace std::chrono_literals;

// What a daemon that is started again needs.
constexpr auto kPause = 1s;
constexpr int kTries = 30;

struct Options {
    std::uint64_t after = 0;
    bool has_after = false;
    int count = 0;  // 0: for ever
};

std::string describe(const schema::Event& event) {
    if (event.desktop) {
        const auto& desktop = *event.desktop;
        auto text = fmt::format("{} ({}): {}", desktop.name, desktop.id, desktop.state);
        if (desktop.state == "running") text += desktop.ready ? ", ready" : ", not ready";
        if (desktop.reason) text += ", " + *desktop.reason;
        return text;
    }
    if (event.operation) {
        const auto& operation = *event.operation;
        auto text = fmt::format("{} {}: {}", operation.id, operation.kind, operation.state);
        if (!operation.step.empty()) text += ", " + operation.step;
        if (operation.error) text += ", " + operation.error->message;
        return text;
    }
    if (event.image) return *event.image;
    if (event.type == "events.lost") return "some events before this are not known any more";
    return {};
}

void print(Context& context, const schema::Event& event) {
    if (context.json()) {
        context.print_line(schema::to_json(event));
    } else if (event.type != "events.open") {
        context.print_line(fmt::format("{}  {:<18} {}", schema::format_time(event.at), plain(event.type),
                                       plain(describe(event))));
    }
    context.streams().out.flush();
}

// Goes on where it was when the daemon comes back.
Result<int> follow(Context& context, const Options& options) {
    std::optional<std::uint64_t> seen;
    if (options.has_after) seen = options.after;
    int left = options.count;
    int tries = 0;
    const auto take = [&](const schema::Event& event) {
        tries = 0;
        seen = event.id;
        print(context, event);
        if (!context.streams().out) return false;  // nobody reads any more
        const bool counts = event.type != "events.open" && options.count > 0;
        return !counts || --left > 0;
    };
    for (;;) {
        const auto ended = context.client().watch_events(seen, take);
        if (ended) return kOk;
        const auto code = ended.error().code;
        const bool may_come_back =
            code == Errc::Interrupted || code == Errc::Unavailable || code == Errc::Timeout;
        if (!may_come_back || !seen || ++tries > kTries) return fail(ended.error());
        if (tries == 1) context.note("the daemon is gone; waiting for it");
        context.pause(kPause);
    }
}

Action declare(CLI::App& app) {
    auto options = std::make_shared<Options>();
    auto* after = app.add_option("--after", options->after, "Begin behind the event with this number")
                      ->option_text(" N");
    app.add_option("--count", options->count, "End after so many")
        ->option_text(" N")
        ->check(CLI::Range(1, 1'000'000));
    return [options, after](Context& context) {
        options->has_after = after->count() > 0;
        return follow(context, *options);
    };
}

}  // namespace

Verb events_verb() {
    return {.name = "events",
            .arguments = "[--after N] [--count N]",
            .summary = "Show what happens, as it happens",
            .examples = {"events", "events --json"},
            .details =
                "Until it is interrupted. With --json one event a line. It goes on when the daemon is\n"
                "started again; \"events.lost\" says that something may have been missed.",
            .declare = declare};
}

}  // namespace dormouse::cli

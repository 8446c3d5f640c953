// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/doctor.h"

#include <algorithm>

#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"

namespace dormouse::cli {

namespace {

using doctor::Finding;
using doctor::Findings;
using doctor::HostView;
using doctor::Level;

std::string_view level_name(Level level) {
    switch (level) {
        case Level::Ok:
            return "ok";
        case Level::Warn:
            return "warn";
        case Level::Fail:
            return "fail";
    }
    return "fail";
}

Style level_style(Level level) {
    switch (level) {
        case Level::Ok:
            return Style::Green;
        case Level::Warn:
            return Style::Yellow;
        case Level::Fail:
            return Style::Red;
    }
    return Style::Red;
}

// From the machine up to the desktops. This machine's checks say nothing about
// a daemon elsewhere.
Findings look(Context& context, HostView& host) {
    const auto& config = context.config();
    const auto daemon = doctor::look_at_daemon(context, host);
    Findings all{doctor::check_daemon(context, daemon), doctor::check_accelerator(host, daemon)};
    if (!context.connection().is_local) return all;
    const Findings here{doctor::check_port(host, config, daemon),
                        doctor::check_qemu(host),
                        doctor::check_qemu_devices(host),
                        doctor::check_tools(host),
                        doctor::check_machine_user(host),
                        doctor::check_memory(host),
                        doctor::check_disk(host, "free disk", config.home),
                        doctor::check_disk(host, "disk for templates", config.templates),
                        doctor::check_clock(host, config),
                        doctor::check_state_folder(host, config),
                        doctor::check_encryption(host, config),
                        doctor::check_run_folder(host, config),
                        doctor::check_token_file(host, config),
                        doctor::check_template(host, config),
                        doctor::check_unfinished_bakes(host, config),
                        doctor::check_leftovers(host, context, daemon)};
    all.insert(all.end(), here.begin(), here.end());
    return all;
}

std::string to_json(const Findings& findings, bool healthy) {
    auto checks = schema::Json::array();
    for (const auto& one : findings)
        checks.push_back({{"check", one.check},
                          {"level", level_name(one.level)},
                          {"text", one.text},
                          {"advice", one.advice}});
    return schema::write_json(schema::Json{{"healthy", healthy}, {"checks", checks}});
}

void print(Context& context, const Findings& findings) {
    std::size_t width = 0;
    for (const auto& one : findings) width = std::max(width, one.check.size());
    for (const auto& one : findings) {
        const auto level = fmt::format("{:<4}", level_name(one.level));
        context.print_line(fmt::format("{}  {:<{}}  {}",
                                       styled(level, level_style(one.level), context.streams().colour),
                                       one.check, width, plain(one.text)));
        if (one.level != Level::Ok && !one.advice.empty())
            context.print_line(fmt::format("{:{}}{}", "", width + 8, plain(one.advice)));
    }
}

Result<int> examine(Context& context) {
    doctor::RealHostView host{context.clock()};
    const auto findings = look(context, host);
    const auto count = [&](Level level) {
        return std::count_if(findings.begin(), findings.end(),
                             [&](const Finding& one) { return one.level == level; });
    };
    const bool healthy = count(Level::Fail) == 0;
    if (context.json()) {
        context.print_line(to_json(findings, healthy));
    } else {
        print(context, findings);
        context.print_line(fmt::format("\n{} checks: {} fail, {} warn", findings.size(), count(Level::Fail),
                                       count(Level::Warn)));
    }
    return healthy ? kOk : kFailure;
}

}  // namespace

Verb doctor_verb() {
    return {.name = "doctor",
            .arguments = "",
            .summary = "Look for what is wrong on this machine, and say what to do",
            .examples = {"doctor", "doctor --json"},
            .details = "Exit code 1 when something fails; a warning is none.",
            .declare = [](CLI::App&) -> Action { return examine; }};
}

}  // namespace dormouse::cli

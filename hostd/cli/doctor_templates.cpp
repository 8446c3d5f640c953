// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/doctor.h"
#include "hostd/schema/json.h"

namespace dormouse::cli::doctor {

namespace fs = std::filesystem;

namespace {

constexpr const char* kQemu = "qemu-system-x86_64";

struct Baked {
    std::string name;
    std::string qemu;  // the whole version text; empty when it does not say
};

// A name is a link to the folder of its newest bake.
std::vector<Baked> baked_templates(HostView& host, const Config& config) {
    std::vector<Baked> all;
    for (const auto& entry : host.list(config.templates)) {
        const auto facts = host.look(entry);
        if (!facts || facts->kind != FileKind::Link) continue;
        const auto text = host.read(host.resolve(entry) / "template.json");
        if (!text) continue;
        const auto json = schema::Json::parse(*text, nullptr, false);
        Baked one{.name = entry.filename().string(), .qemu = {}};
        if (json.is_object() && json.contains("memory_image") && json["memory_image"].is_object())
            one.qemu = json["memory_image"].value("qemu_version", "");
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace

// The daemon knows more: `template list` shows what else makes one stale.
Finding check_template(HostView& host, const Config& config) {
    const std::string check = "template";
    const auto all = baked_templates(host, config);
    if (all.empty())
        return {check, Level::Fail, fmt::format("none is baked in {}", config.templates.string()),
                "bake it: ./dormouse up"};
    const auto said = host.run({kQemu, "--version"});
    const auto now = said ? qemu_version(*said) : std::string{};
    std::string names;
    std::string stale;
    for (const auto& one : all) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
        const auto then = qemu_version("version " + one.qemu);
        if (!now.empty() && !then.empty() && then != now)
            stale += fmt::format("{}{} (baked with QEMU {})", stale.empty() ? "" : ", ", one.name, then);
    }
    if (stale.empty()) return {check, Level::Ok, names, {}};
    return {check, Level::Warn, fmt::format("not for this QEMU ({}): {}", now, stale),
            "bake again: ./dormouse up for 'desktop', dormouse template build FILE for your own"};
}

Finding check_unfinished_bakes(HostView& host, const Config& config) {
    const std::string check = "unfinished bakes";
    std::string left;
    for (const auto& folder : {config.templates, config.templates / "packages"})
        for (const auto& entry : host.list(folder))
            if (entry.extension() == ".partial" || entry == config.templates / "packages/work")
                left += fmt::format("{}{}", left.empty() ? "" : ", ", entry.string());
    if (left.empty()) return {check, Level::Ok, "none", {}};
    if (host.is_locked(config.templates / "bake.lock")) return {check, Level::Ok, "one is in progress", {}};
    return {check, Level::Warn, "a bake was interrupted and left " + left,
            "the next bake, or the daemon when it starts, removes it"};
}

}  // namespace dormouse::cli::doctor

// SPDX-License-Identifier: Apache-2.0
// What desktops are made from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hostd/base/clock.h"
#include "hostd/base/id.h"
#include "hostd/desktop/command_traits.h"

namespace dormouse::desktop {

struct ListTemplates {
    static constexpr CommandTraits traits{"template.list", CommandGroup::Look};
};
struct GetTemplate {
    static constexpr CommandTraits traits{"template.get", CommandGroup::Look};
    TemplateName image;
};
// Answers with an operation as soon as the recipe has been understood.
struct BuildTemplate {
    static constexpr CommandTraits traits{"template.build", CommandGroup::Templates};
    std::string recipe;                // TOML; reads no files of this host
    std::optional<TemplateName> name;  // instead of the recipe's
};
// Errc::Conflict while desktops stand on its newest bake.
struct DeleteTemplate {
    static constexpr CommandTraits traits{"template.delete", CommandGroup::Templates};
    TemplateName image;
};
// What the newest bake has said. Commands of a recipe are in it, so it is not for everybody.
struct GetTemplateLog {
    static constexpr CommandTraits traits{"template.log", CommandGroup::Templates};
    TemplateName image;
    std::uint64_t offset = 0;  // bytes that the caller has already
};

// ---- the answers

struct TemplateInfo {
    TemplateName name;
    std::string hash;  // of all that went in
    std::string description;
    std::optional<std::string> parent;   // the built-in recipe that its own inherits
    std::optional<WallTime> created_at;  // absent in bakes of early versions
    int memory_mib = 0;
    int cpus = 0;
    int screen_width = 0;
    int screen_height = 0;
    std::string user;
    std::string locale;
    std::string timezone;
    std::string keyboard;
    std::string qemu_version;
    std::string accelerator;
    std::uint64_t size = 0;             // bytes on disk
    bool is_built_in = false;           // its recipe comes with Dormouse
    std::optional<std::string> stale;   // why it should be baked again
    int desktops = 0;                   // that stand on this bake
    std::optional<std::string> recipe;  // for callers that may build templates, of one template
};

}  // namespace dormouse::desktop

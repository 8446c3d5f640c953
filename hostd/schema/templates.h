// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/schema/codec.h"
#include "hostd/schema/desktops.h"

namespace dormouse::schema {

struct Template {
    std::string name;
    std::string hash;
    std::string description;
    std::optional<std::string> parent;  // "from" in JSON
    std::optional<WallTime> created_at;
    Screen screen;
    int memory_mib = 0;
    int cpus = 0;
    std::string user;
    std::string locale;
    std::string timezone;
    std::string keyboard;
    std::string qemu;
    std::string accelerator;
    std::uint64_t size_bytes = 0;
    bool built_in = false;
    std::optional<std::string> stale_reason;  // "stale" in JSON says whether there is one
    int desktops = 0;
    std::optional<std::string> recipe;
};

struct TemplateList {
    std::vector<Template> templates;
};

struct BuildTemplateRequest {
    std::string recipe;
    std::optional<std::string> name;
};

std::string to_json(const Template& image);
std::string to_json(const TemplateList& list);
std::string to_json(const BuildTemplateRequest& request);

template <>
Result<Template> parse<Template>(std::string_view text);
template <>
Result<TemplateList> parse<TemplateList>(std::string_view text);
template <>
Result<BuildTemplateRequest> parse<BuildTemplateRequest>(std::string_view text);

}  // namespace dormouse::schema

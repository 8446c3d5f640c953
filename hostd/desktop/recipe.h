// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/id.h"
#include "hostd/base/result.h"

namespace dormouse::desktop {

// What a template is made from: assets/templates/*.toml, which explains each key.
struct Recipe {
    TemplateName name;
    std::string description;
    std::string suite;  // of Debian

    int memory_mib = 2048;
    int cpus = 2;
    int disk_gib = 20;
    int screen_width = 1280;
    int screen_height = 800;
    std::string kernel_arguments;

    std::vector<std::string> packages;
    std::filesystem::path overlay;  // laid over the root file system; absolute once loaded
    std::string locale;
    std::string timezone;
    std::string keyboard;
    std::string user;
    std::vector<std::string> commands;  // shell lines, run inside as root, the last step
};

// Unknown keys, wrong types and numbers out of range are Errc::InvalidArgument
// with the line. `source_root` is what `files.overlay` is relative to.
Result<Recipe> parse_recipe(std::string_view toml, const std::filesystem::path& source_root);
Result<Recipe> load_recipe(const std::filesystem::path& file, const std::filesystem::path& source_root);

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/id.h"
#include "hostd/base/result.h"

namespace dormouse::desktop {

// A package archive besides Debian's.
struct RecipeRepository {
    std::string name;  // of its file in the template: /etc/apt/sources.list.d/NAME.sources
    std::string uri;   // http or https
    std::vector<std::string> suites;
    std::vector<std::string> components;
    std::string key;                    // armoured; what signs the archive
    std::vector<std::string> packages;  // to install, from here or from Debian
};

struct RecipeFile {
    std::string path;  // in the template: absolute, without "." and ".."
    std::string content;
    unsigned mode = 0644;
    bool is_users = false;  // owned by the desktop's user; else by root
};

// A shell line (or some), run by `bash -euo pipefail` inside the new system.
struct RecipeCommand {
    std::string text;
    bool as_user = false;  // as the desktop's user in its home; else as root
    std::string recipe;    // which recipe says so: "desktop" of one that inherits it
    int line = 0;          // there
};

// What a template is made from. assets/templates/desktop.toml explains each key,
// docs/templates.md how to write one's own.
struct Recipe {
    TemplateName name;
    std::string description;
    std::string suite;                   // of Debian
    std::optional<TemplateName> parent;  // whose packages, files and commands come first

    int memory_mib = 2048;
    int cpus = 2;
    int disk_gib = 20;
    int screen_width = 1280;
    int screen_height = 800;
    std::string kernel_arguments;

    std::vector<std::string> packages;  // fetched as one set, which is kept; the parent's if there is one
    std::vector<std::string> added_packages;  // installed on top of it
    std::vector<RecipeRepository> repositories;
    std::filesystem::path overlay;  // laid over the root file system; absolute once loaded
    std::vector<RecipeFile> files;
    std::string locale = "en_US.UTF-8";
    std::string timezone = "UTC";
    std::string keyboard = "us";
    std::string user;
    std::vector<RecipeCommand> commands;  // the last step, in order
};

// The longest recipe, with the files that the command line has put into it.
constexpr std::size_t kMostRecipeBytes = 1 << 20;

// What a recipe may refer to. Whoever wrote it gets nothing else of this host.
struct RecipeSurroundings {
    // What `files.overlay` is relative to: the folder with assets/.
    std::filesystem::path data_folder;
    // The text of a built-in recipe, for `from`. Errc::NotFound with the names there are.
    std::function<Result<std::string>(const TemplateName&)> built_in;
    // Instead of what the recipe says; a recipe may then leave its name out.
    std::optional<TemplateName> name;
};

// Unknown keys, wrong types, and what is beyond a limit or not of its shape are
// Errc::InvalidArgument with the line. Any text may come in; reads no file of
// its own accord.
Result<Recipe> parse_recipe(std::string_view toml, const RecipeSurroundings& surroundings);

// The built-in recipes: data_folder/assets/templates/NAME.toml.
RecipeSurroundings surroundings_in(const std::filesystem::path& data_folder);

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// The shapes of what stands in a recipe. Plain functions over untrusted text;
// each of the is_ functions says whether the text may go into a command line, a
// path or a configuration file of the new system. For recipe.cpp only.
#pragma once

#include <string>
#include <string_view>

#include "hostd/desktop/recipe.h"
#include "hostd/desktop/recipe_reader.h"

namespace dormouse::desktop {

bool is_package_name(std::string_view text);  // "libc6", "g++:amd64", never an option or a list
bool is_locale(std::string_view text);        // "de_DE.UTF-8", "C.UTF-8"
bool is_timezone(std::string_view text);      // "Europe/Berlin"
bool is_keyboard(std::string_view text);      // "us", "latam"
bool is_user_name(std::string_view text);     // an identifier that is not root
// "1280x800", even, 640x480 to 3840x2160.
bool parse_screen(std::string_view text, int& width, int& height);

// These read one element of a list and add it to `recipe`, or note in `in` what is wrong.
void read_repository(RecipeReader& in, const toml::node& node, Recipe& recipe);
void read_file_entry(RecipeReader& in, const toml::node& node, Recipe& recipe);
void read_command(RecipeReader& in, const toml::node& node, Recipe& recipe, const std::string& recipe_name);

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/cli/context.h"

namespace dormouse::cli {

// Carries a verb out. Gives the exit code, or the Error to show.
using Action = std::function<Result<int>(Context&)>;

struct Verb {
    std::string_view name;                   // "create", "token list"
    std::string_view arguments;              // "NAME X Y [--right|--double]"
    std::string_view summary;                // what it does, in a few words
    std::vector<std::string_view> examples;  // without the program's name
    std::string_view details{};              // more lines for its own help
    bool hidden = false;
    // Says what it takes; the action runs after those values have been filled in.
    Action (*declare)(CLI::App& app) = nullptr;
};

inline CLI::Validator not_empty() {
    const auto check = [](const std::string& text) {
        return text.empty() ? std::string{"must not be empty"} : "";
    };
    return {check, ""};
}

// By which the completion scripts know that a desktop is wanted.
inline constexpr const char* kDesktopDescription = "The desktop's name or id";
inline constexpr const char* kDesktopsDescription = "Names or ids of desktops";

// The name or id of a desktop.
inline CLI::Option* add_desktop(CLI::App& app, std::string& name) {
    return app.add_option("NAME", name, kDesktopDescription)->required()->check(not_empty());
}

}  // namespace dormouse::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

// What a word may be completed to.
struct Completions {
    bool desktops = false;           // the names of desktops
    std::vector<std::string> words;  // these
};

// A verb as the completion scripts need it; made from its declaration, so that
// it cannot say anything else than the verb itself does.
struct VerbShape {
    struct Option {
        std::string name;  // "--scope"
        std::string description;
        bool takes_value = false;
        Completions value;
    };
    std::string name;  // "token create"
    std::string summary;
    std::vector<Option> options;
    Completions first;  // its first argument
};
std::vector<VerbShape> verb_shapes();

// A script for "bash", "zsh" or "fish"; empty for others.
std::string completion_script(std::string_view shell);

}  // namespace dormouse::cli

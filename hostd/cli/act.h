// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostd/cli/verb.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

// What the verbs that act have in common.
struct ActFlags {
    std::vector<std::string> screenshot;  // "after" or "settled", and a file
};
void add_act_flags(CLI::App& app, ActFlags& flags);

// Has actions carried out: silent when they were, but for `note` to somebody who
// watches ("click: done in 12 ms" where there is none), and the API's answer with
// --json. Saves the picture that the flags ask for.
Result<int> act(Context& context, const std::string& desktop, std::vector<schema::Action> actions,
                const ActFlags& flags, std::string note = {});

// The two words of a place, which are given together or not at all.
Result<std::optional<schema::Point>> place(const std::optional<int>& x, const std::optional<int>& y);

// Writes a picture. The format that a file's name asks for by its end: ".jpg".
Result<> save_picture(const std::string& file, const std::string& bytes);
schema::PictureFormat format_of(const std::string& file);

// An option for keys that are held while something else is done.
void add_modifiers(CLI::App& app, std::optional<std::string>& modifiers);

}  // namespace dormouse::cli

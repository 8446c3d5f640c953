// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "hostd/base/result.h"

namespace dormouse::cli {

// A recipe goes to the daemon as text alone. This puts the files beside it in,
// where it names them: `files.add.source` (a file, or a folder with all that is
// in it) and `repositories.key`. What it replaces stays on its line, so that
// lines in messages are those of the file. A recipe that is no TOML comes back
// as it is: the daemon says what is wrong with it.
//
// Only plain files below `folder` are taken, no links: a recipe that one was
// given carries nothing else of this machine away. Blocks.
Result<std::string> pack_recipe(const std::string& text, const std::filesystem::path& folder);

}  // namespace dormouse::cli

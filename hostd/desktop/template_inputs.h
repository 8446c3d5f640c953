// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hostd/base/result.h"
#include "hostd/desktop/recipe.h"

namespace dormouse::desktop {

// What goes into a bake besides the recipe.
struct BakeInputs {
    std::filesystem::path recipe_file;
    std::filesystem::path builder;       // guest/image/build-rootfs.sh
    std::filesystem::path agent_binary;  // dormouse-guestd, as it is put into the guest
};

// What identifies the result of the first stage (the packages) and of the whole
// bake: 16 hex digits of BLAKE2b over everything that goes in. `machine` is what
// else the memory image depends on: QEMU's version and the command line's hash.
// Blocks: reads all the files.
Result<std::string> packages_hash(const Recipe& recipe, const BakeInputs& inputs);
Result<std::string> bake_hash(const Recipe& recipe, const BakeInputs& inputs, const std::string& machine);

// The two runs of the builder.
std::vector<std::string> packages_arguments(const Recipe& recipe, const BakeInputs& inputs,
                                            const std::filesystem::path& list,
                                            const std::filesystem::path& output,
                                            const std::filesystem::path& work);
std::vector<std::string> disk_arguments(const Recipe& recipe, const BakeInputs& inputs,
                                        const std::filesystem::path& packages,
                                        const std::filesystem::path& commands,
                                        const std::filesystem::path& output,
                                        const std::filesystem::path& work);

}  // namespace dormouse::desktop

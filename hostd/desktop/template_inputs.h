// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "hostd/base/result.h"
#include "hostd/desktop/recipe.h"

namespace dormouse::desktop {

// What goes into a bake besides the recipe.
struct BakeInputs {
    std::filesystem::path builder;       // guest/image/build-rootfs.sh; the stages' own scripts are beside it
    std::filesystem::path agent_binary;  // dormouse-guestd, as it is put into the guest
};

// The script of one stage of the builder, "packages" or "disk".
std::filesystem::path stage_script(const BakeInputs& inputs, const std::string& stage);

// Hashes (16 hex digits of BLAKE2b) of all that goes into a bake, apart, so that
// one can say which has changed. A comment in a recipe does not count.
struct InputHashes {
    std::string recipe;
    std::string guest_files;  // the overlay
    std::string agent;
    std::string builder;
    friend bool operator==(const InputHashes&, const InputHashes&) = default;
};
// Blocks: reads all the files. The error names the one that cannot be read.
Result<InputHashes> hash_inputs(const Recipe& recipe, const BakeInputs& inputs);

// What identifies a bake. `machine` is what else the memory image depends on:
// QEMU's version and the command line's hash.
std::string bake_hash(const InputHashes& hashes, const std::string& machine);
// What identifies the result of the first stage alone. Blocks.
Result<std::string> packages_hash(const Recipe& recipe, const BakeInputs& inputs);

// "the guest agent, the recipe": what differs. Empty when nothing does.
std::string differences(const InputHashes& before, const InputHashes& now);

// Where the built-in recipes, the guest's files and the builder are: the folder
// with assets/ and guest/, found by walking up from the folder of this program
// (a checkout's root, or share/dormouse). Errc::NotFound with what to do.
Result<std::filesystem::path> find_data_folder(const std::filesystem::path& program_folder);

}  // namespace dormouse::desktop

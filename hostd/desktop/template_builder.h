// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/work_pool.h"
#include "hostd/desktop/recipe.h"
#include "hostd/desktop/template_inputs.h"

namespace dormouse::desktop {

// What the builder (guest/image/build-rootfs.sh) says on its standard output.
struct BuilderSaid {
    std::string failed;                // "command 003 2", "packages", ...; empty when nothing has failed
    std::vector<std::string> because;  // what the tool in question said last
};
// One line of it. Gives how far it is and what it does, for a line of progress.
struct BuilderProgress {
    double done = 0;  // 0 to 1
    std::string step;
};
std::optional<BuilderProgress> read_builder_line(std::string_view line, BuilderSaid& said);

// The failure in the recipe's own words: which of its commands, files or
// repositories, with its line. Nothing when the builder did not say.
std::optional<Error> explain_failure(const Recipe& recipe, const BuilderSaid& said);

// A repository as apt reads it (deb822), its key inside.
std::string sources_text(const RecipeRepository& repository);

// Writes what the recipe adds to its packages into `folder`, in the form that the builder takes.
Result<> write_parts(const Recipe& recipe, const std::filesystem::path& folder);

struct BuilderFolders {
    std::filesystem::path packages;  // the list for the first stage, the tar for the second
    std::filesystem::path parts;     // second stage
    std::filesystem::path output;    // tar file; folder for the second stage
    std::filesystem::path work;
    std::filesystem::path log;
    WallTime began;  // of the bake: what the times in the log count from
};
std::vector<std::string> packages_arguments(const Recipe& recipe, const BakeInputs& inputs,
                                            const BuilderFolders& folders);
std::vector<std::string> disk_arguments(const Recipe& recipe, const BakeInputs& inputs,
                                        const BuilderFolders& folders);

// Runs it on `pool`. It ends when `cancelled` is set, and when this process ends,
// however that happens: it holds a pipe of ours. It also holds `lock`, a locked
// descriptor that stays the caller's. `progress` is called on the loop.
Task<Result<>> run_builder(EventLoop& loop, WorkPool& pool, std::vector<std::string> arguments, Recipe recipe,
                           std::function<void(BuilderProgress)> progress, int lock,
                           std::shared_ptr<std::atomic<bool>> cancelled);

}  // namespace dormouse::desktop

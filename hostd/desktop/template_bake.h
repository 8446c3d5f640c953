// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "hostd/desktop/host.h"
#include "hostd/desktop/recipe.h"
#include "hostd/desktop/template_inputs.h"
#include "hostd/desktop/template_store.h"

namespace dormouse::desktop {

struct BakeOptions {
    BakeInputs inputs;
    std::filesystem::path source_root;  // what the recipe's paths are relative to
    // Called on the loop, with how much of the whole is done, 0 to 1.
    std::function<void(double done, std::string step)> progress;
    // Set from anywhere (a signal): the bake ends soon with Errc::Interrupted.
    std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

// Makes a template from its recipe: packages, disk, first boot, memory image.
// Gives the one that is there already when nothing that goes in has changed.
//
// Everything is built in a folder of another name that is renamed when complete,
// so an interruption at any instant leaves the templates as they were; what is
// left of it is removed by the next bake. One bake at a time: Errc::Conflict.
// Takes minutes; the log of each step is in the folder that the error names.
Task<Result<Template>> bake_template(Host& host, BakeOptions options);

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "hostd/desktop/host.h"
#include "hostd/desktop/recipe.h"
#include "hostd/desktop/template_inputs.h"
#include "hostd/desktop/template_store.h"

namespace dormouse::desktop {

struct BakeOptions {
    Recipe recipe;
    std::string recipe_text;  // as somebody wrote it: kept with the template
    BakeInputs inputs;
    // Called on the loop, with how much of the whole is done, 0 to 1.
    std::function<void(double done, std::string step)> progress;
    // Called on the loop with each line that the tools and we say; may be empty.
    std::function<void(std::string_view line)> log;
    // Set from anywhere (a signal): the bake ends soon with Errc::Interrupted.
    std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

// Makes a template from its recipe: packages, disk, first boot, memory image.
// Gives the one that is there already when nothing that goes in has changed.
//
// Everything is built in a folder of another name that is renamed when complete,
// so an interruption at any instant leaves the templates as they were; what is
// left of it is removed by the next bake, and by clean_up_after_bakes(). One bake
// at a time in a folder of templates: Errc::Conflict. Errc::Unavailable when
// there is not enough disk or memory. Takes minutes; what blocks runs in
// processes of its own and on the pool. The log is kept in the template's folder.
Task<Result<Template>> bake_template(Host& host, BakeOptions options);

// Removes what a bake has left that ended with its daemon. False when one is in
// progress, or the builder of such a one still takes down what it has.
Task<bool> clean_up_after_bakes(Host& host);
// The same, as soon as that is over; gives up after a minute.
Task<void> clean_up_when_bakes_have_ended(Host& host);

}  // namespace dormouse::desktop

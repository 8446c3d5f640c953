// SPDX-License-Identifier: Apache-2.0
// Looking at a desktop's screen and acting on it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hostd/base/result.h"
#include "hostd/desktop/actions.h"
#include "hostd/desktop/command_traits.h"
#include "hostd/desktop/picture.h"

namespace dormouse::desktop {

struct TakeScreenshot {
    static constexpr CommandTraits traits{"desktop.screenshot", CommandGroup::Look, has_screen};
    DesktopReference desktop;
    PictureOptions picture{};
};
struct Act {
    static constexpr CommandTraits traits{"desktop.act", CommandGroup::Act, is_running};
    DesktopReference desktop;
    std::vector<Action> actions;  // 1 to 100, in order, up to the first that fails
    ActOptions options{};
};

// ---- the answers

struct ActAnswer {
    std::vector<ActionOutcome> done;
    std::optional<Error> failure;  // of one action; those after it were not begun
    // Which one, counting from 0. Past done.size() when it was found wrong in the
    // check before the first: then nothing was done at all.
    std::size_t failed_at = 0;
    std::optional<Aftermath> aftermath;  // where a screenshot was asked for and all went well
};

}  // namespace dormouse::desktop

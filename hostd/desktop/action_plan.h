// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "hostd/desktop/actions.h"
#include "hostd/desktop/coordinates.h"
#include "hostd/desktop/key_names.h"
#include "hostd/desktop/text_plan.h"

namespace dormouse::desktop {

inline constexpr std::size_t kMostActions = 100;  // in one call
inline constexpr int kMostScroll = 100;           // clicks of the wheel
inline constexpr int kMostClicks = 3;
inline constexpr int kMostRepeats = 100;
inline constexpr std::size_t kMostPathPoints = 1000;
inline constexpr int kLargestZoom = 4096;  // pixels, of either side
inline constexpr Duration kLongestWait = std::chrono::seconds{300};
inline constexpr Duration kLongestButtonHold = std::chrono::seconds{60};  // without any action
// All of one call: waits, holds, keys. Somebody waits for the answer.
inline constexpr Duration kLongestCall = std::chrono::minutes{10};

// An action that was found right, with what reading it gave. Its points and
// regions are the screen's.
struct PlannedAction {
    Action action;
    std::vector<Chord> chords;  // of KeyAction and HoldKeyAction (one)
    std::vector<TextRun> runs;  // of TypeAction
    Chord held;                 // to be held meanwhile
    PictureOptions zoom;        // of ZoomAction
};

struct ActionPlan {
    std::vector<PlannedAction> actions;
    // Which action is wrong and why; then nothing is to be done at all.
    std::size_t failed_at = 0;
    std::optional<Error> error;
};

// How the pictures of a call are wanted, of the screen; the region that was asked
// for is in the caller's pixels.
Result<PictureOptions> picture_of_call(const ActOptions& options, const CoordinateMap& map);

// Checks the actions of one call, reads keys and texts, and turns coordinates
// into the screen's. `left_is_down`: an earlier call left the button down.
ActionPlan plan_actions(std::vector<Action> actions, const CoordinateMap& map, const PictureOptions& picture,
                        bool left_is_down);

}  // namespace dormouse::desktop

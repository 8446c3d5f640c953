// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/action_plan.h"

#include <algorithm>
#include <utility>

#include "hostd/desktop/input.h"

namespace dormouse::desktop {

namespace {

Result<> check_range(std::string_view name, int value, int most) {
    if (value >= 1 && value <= most) return {};
    return fail(Errc::InvalidArgument, fmt::format("{} {} is not 1..{}", name, value, most));
}

Result<> check_time(Duration time) {
    if (time >= Duration::zero() && time <= kLongestWait) return {};
    return fail(Errc::InvalidArgument,
                fmt::format("duration {} is not 0..{} seconds", std::chrono::duration<double>{time}.count(),
                            std::chrono::floor<std::chrono::seconds>(kLongestWait).count()));
}

Duration cost_of(const Chord& chord) {
    return 2 * pacing::kKeyEdge * chord.keys.size();
}

// Plans one action after the other; knows what those before it did.
class Planner {
  public:
    Planner(const CoordinateMap& map, const PictureOptions& picture, bool left_is_down)
        : map_(map), picture_(picture), left_is_down_(left_is_down) {}

    Result<PlannedAction> plan(Action action) {
        PlannedAction planned;
        auto visit = [&](auto& one) { return plan(one, planned); };
        DORMOUSE_TRY(std::visit(visit, action));
        planned.action = std::move(action);
        if (cost_ > kLongestCall)
            return fail(Errc::InvalidArgument,
                        fmt::format("the actions up to this one take more than {} minutes",
                                    std::chrono::floor<std::chrono::minutes>(kLongestCall).count()),
                        "send them in several calls; long texts are faster without \"method\": \"keys\"");
        return planned;
    }

  private:
    Result<> plan(ScreenshotAction&, PlannedAction&) { return {}; }
    Result<> plan(CursorAction&, PlannedAction&) { return {}; }

    Result<> plan(ZoomAction& zoom, PlannedAction& planned) {
        DORMOUSE_TRY_ASSIGN(const auto region, map_.to_screen(zoom.region));
        if (zoom.width < 0 || zoom.height < 0 || zoom.width > kLargestZoom || zoom.height > kLargestZoom ||
            (zoom.width == 0) != (zoom.height == 0))
            return fail(Errc::InvalidArgument, fmt::format("size [{}, {}] is not 1..{} pixels", zoom.width,
                                                           zoom.height, kLargestZoom));
        planned.zoom = picture_;
        planned.zoom.region = region;
        planned.zoom.scale = 1;
        planned.zoom.max_width = planned.zoom.max_height = 0;
        planned.zoom.width = zoom.width;
        planned.zoom.height = zoom.height;
        if (zoom.width == 0) fit(region, planned.zoom);
        return {};
    }

    Result<> plan(ClickAction& click, PlannedAction& planned) {
        DORMOUSE_TRY(check_range("number of clicks", click.count, kMostClicks));
        DORMOUSE_TRY(check_range("repeat", click.repeat, click.count == 1 ? kMostRepeats : 1));
        if (click.button == Button::Left) DORMOUSE_TRY(need_left_up("click"));
        add_cost((click.repeat - 1) * (pacing::kBetweenRepeats + pacing::kButtonHold));
        DORMOUSE_TRY(move_to_screen(click.at));
        return hold(click.held, planned);
    }

    Result<> plan(MoveAction& move, PlannedAction& planned) {
        DORMOUSE_TRY_ASSIGN(move.to, map_.to_screen(move.to));
        return hold(move.held, planned);
    }

    Result<> plan(LeftButtonAction& button, PlannedAction&) {
        if (button.down) DORMOUSE_TRY(need_left_up("press"));
        left_is_down_ = button.down;
        return move_to_screen(button.at);
    }

    Result<> plan(DragAction& drag, PlannedAction& planned) {
        DORMOUSE_TRY(need_left_up("drag"));
        if (drag.path.empty() || drag.path.size() > kMostPathPoints)
            return fail(Errc::InvalidArgument,
                        fmt::format("a path of {} points is not 1..{}", drag.path.size(), kMostPathPoints));
        DORMOUSE_TRY(move_to_screen(drag.from));
        for (auto& point : drag.path) {
            DORMOUSE_TRY_ASSIGN(point, map_.to_screen(point));
        }
        add_cost(pacing::kEmulatedDragPace * pacing::kDragStep *
                 std::max<int>(pacing::kDragSteps, static_cast<int>(drag.path.size())));
        return hold(drag.held, planned);
    }

    Result<> plan(ScrollAction& scroll, PlannedAction& planned) {
        DORMOUSE_TRY(check_range("scroll_amount", scroll.amount, kMostScroll));
        DORMOUSE_TRY(move_to_screen(scroll.at));
        add_cost(2 * pacing::kWheelEdge * scroll.amount);
        return hold(scroll.held, planned);
    }

    Result<> plan(KeyAction& key, PlannedAction& planned) {
        DORMOUSE_TRY(check_range("repeat", key.repeat, kMostRepeats));
        DORMOUSE_TRY_ASSIGN(planned.chords, parse_keys(key.keys));
        for (const auto& chord : planned.chords) add_cost(key.repeat * cost_of(chord));
        return {};
    }

    Result<> plan(HoldKeyAction& key, PlannedAction& planned) {
        DORMOUSE_TRY(check_time(key.time));
        DORMOUSE_TRY_ASSIGN(auto chord, parse_held(key.keys));
        if (chord.keys.empty()) return fail(Errc::InvalidArgument, "no key is named", "for example: shift");
        add_cost(key.time + cost_of(chord));
        planned.chords.push_back(std::move(chord));
        return {};
    }

    Result<> plan(TypeAction& type, PlannedAction& planned) {
        DORMOUSE_TRY_ASSIGN(planned.runs, plan_text(type.text, type.method));
        for (const auto& run : planned.runs)
            if (run.how == TextRun::How::Keys) add_cost(2 * pacing::kKeyEdge * run.text.size());
        return {};
    }

    Result<> plan(WaitAction& wait, PlannedAction&) {
        DORMOUSE_TRY(check_time(wait.time));
        add_cost(wait.time);
        return {};
    }

    Result<> move_to_screen(std::optional<Point>& point) const {
        if (point) {
            DORMOUSE_TRY_ASSIGN(point, map_.to_screen(*point));
        }
        return {};
    }

    Result<> hold(const std::string& keys, PlannedAction& planned) {
        auto held = parse_held(keys);
        if (!held) return fail_in("the keys to hold", held.error());
        planned.held = std::move(*held);
        add_cost(cost_of(planned.held));
        return {};
    }

    Result<> need_left_up(std::string_view what) const {
        if (!left_is_down_) return {};
        return fail(Errc::InvalidArgument,
                    fmt::format("the left button is down since left_mouse_down and cannot {}", what),
                    "use mouse_move and left_mouse_up first");
    }

    // As large as fits into what the caller looks at, with the region's proportions.
    void fit(const Region& region, PictureOptions& zoom) const {
        const auto& room = map_.seen();
        const double factor = std::min(static_cast<double>(room.width) / region.width,
                                       static_cast<double>(room.height) / region.height);
        const auto side = [&](int pixels, int most) {
            return std::clamp(static_cast<int>(pixels * factor + 0.5), 1, std::min(most, kLargestZoom));
        };
        zoom.width = side(region.width, room.width);
        zoom.height = side(region.height, room.height);
    }

    void add_cost(Duration time) { cost_ = std::min(cost_ + time, 2 * kLongestCall); }

    const CoordinateMap& map_;
    const PictureOptions& picture_;
    bool left_is_down_;
    Duration cost_{};
};

}  // namespace

Result<PictureOptions> picture_of_call(const ActOptions& options, const CoordinateMap& map) {
    auto wanted = options.picture;
    if (!wanted.region) return wanted;
    const auto& region = *wanted.region;
    DORMOUSE_TRY_ASSIGN(wanted.region, map.to_screen(Box{region.x, region.y, region.x + region.width,
                                                         region.y + region.height}));
    return wanted;
}

ActionPlan plan_actions(std::vector<Action> actions, const CoordinateMap& map, const PictureOptions& picture,
                        bool left_is_down) {
    ActionPlan plan;
    if (actions.empty() || actions.size() > kMostActions) {
        plan.error = Error{Errc::InvalidArgument,
                           fmt::format("{} actions are not 1..{}", actions.size(), kMostActions),
                           {},
                           0};
        return plan;
    }
    Planner planner{map, picture, left_is_down};
    for (std::size_t i = 0; i < actions.size(); ++i) {
        auto planned = planner.plan(std::move(actions[i]));
        if (!planned) {
            plan.failed_at = i;
            plan.error = std::move(planned.error());
            return plan;
        }
        plan.actions.push_back(std::move(*planned));
    }
    return plan;
}

}  // namespace dormouse::desktop

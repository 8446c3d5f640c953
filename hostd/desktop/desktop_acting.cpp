// SPDX-License-Identifier: Apache-2.0
// What is seen and done on a desktop: the part of Desktop that has screen and input.
#include <algorithm>
#include <utility>

#include "hostd/base/log.h"
#include "hostd/desktop/desktop.h"
#include "hostd/desktop/guest_ports.h"
#include "hostd/desktop/stills.h"

namespace dormouse::desktop {

using namespace std::chrono_literals;

namespace {

// QEMU sends the first picture within milliseconds of being asked.
constexpr auto kFirstPictureTimeout = 5s;
// How long a program may take to show that it was given a key; one that shows
// nothing by then is taken to have nothing to show. Under emulation on a busy
// host Chromium needed more than a second to move the focus to its address bar.
constexpr auto kReactionTimeout = 300ms;
constexpr auto kEmulatedReactionTimeout = 2500ms;
constexpr auto kReactionQuiet = 150ms;
constexpr auto kEmulatedReactionQuiet = 500ms;
// What changes at once may be the effect of something before.
constexpr auto kLeastReaction = 50ms;
constexpr auto kEmulatedLeastReaction = 800ms;
constexpr auto kLongestReaction = 3s;
constexpr auto kReactionLook = 15ms;
// The same for what is no click and no key: the pointer moves, the wheel turns
// at the end of a page, and often nothing is to be seen.
constexpr auto kSlightReactionTimeout = 200ms;
constexpr auto kEmulatedSlightReactionTimeout = 1200ms;
// Between two blinks of a caret, which come every half second.
constexpr auto kShownQuiet = 80ms;
constexpr auto kEmulatedShownQuiet = 350ms;
// A page that never comes to rest is shown as it is by then.
constexpr auto kLongestSettling = 10s;

}  // namespace

// Attaches the screen on first use.
Task<Result<>> Desktop::need_screen() {
    const auto self = shared_from_this();
    const auto guard = co_await screen_mutex_.lock();
    const auto machine = machine_;
    if (!machine || !machine->alive())
        co_return fail(Errc::Conflict, fmt::format("desktop '{}' is {}", row_.name.str(), state_name(state_)),
                       fmt::format("start it: ./dormouse start {}", row_.name.str()));
    if (screen_.attached()) co_return co_await screen_.wait_live(kFirstPictureTimeout);
    DORMOUSE_CO_TRY_ASSIGN(auto display, co_await machine->open_display());
    DORMOUSE_CO_TRY(attach_screen(screen_, std::move(display)));
    co_return co_await screen_.wait_live(kFirstPictureTimeout);
}

Task<Result<Picture>> Desktop::screenshot(PictureOptions options) {
    const auto self = shared_from_this();
    DORMOUSE_CO_TRY(co_await need_screen());
    // A source that does not tell where the pointer is: where it was sent to.
    if (const auto sent = input_->position(); sent && options.cursor)
        screen_.pointer_sent_to(sent->x, sent->y);
    const auto wanted = still_options(options);
    if (const auto made = screen_.still_if_ready(wanted)) co_return to_picture(*made, options.cursor);
    auto encoding = run_on(host_.pool, host_.loop, screen_.still_job(wanted));
    DORMOUSE_CO_TRY_ASSIGN(const auto still, co_await std::move(encoding));
    co_return to_picture(still, options.cursor);
}

Task<ActAnswer> Desktop::act(std::vector<Action> actions, ActOptions options, Cancel cancel) {
    const auto self = shared_from_this();
    const auto guard = co_await input_mutex_.lock();
    if (cancel.cancelled())
        co_return ActAnswer{.failure = Error{Errc::Interrupted, "the caller went away", {}, 0}};
    if (const auto seen = co_await need_screen(); !seen) co_return ActAnswer{.failure = seen.error()};
    ++button_hold_;  // whoever acts has not forgotten the button
    const bool wants_picture = options.screenshot != WithScreenshot::None;
    Before before{{}, screen_.generation()};
    if (wants_picture) before.snapshot = screen_.snapshot();
    auto answer = co_await run_actions(ports(), std::move(actions), options, cancel);
    limit_button_hold();
    if (!wants_picture || answer.failure) co_return answer;
    auto aftermath = co_await look_after(options, std::move(before), cancel);
    if (aftermath) {
        answer.aftermath = std::move(*aftermath);
    } else {
        answer.failure = std::move(aftermath.error());
        answer.failed_at = answer.done.size();
    }
    co_return answer;
}

// ---- what the actions led to

Task<Result<Aftermath>> Desktop::look_after(ActOptions options, Before before, Cancel cancel) {
    const auto self = shared_from_this();
    Aftermath aftermath;
    if (options.screenshot == WithScreenshot::Settled) {
        DORMOUSE_CO_TRY_ASSIGN(aftermath.settling, co_await settle(before, cancel));
    }
    const auto screen = screen_.size();
    DORMOUSE_CO_TRY_ASSIGN(const auto map,
                           CoordinateMap::make(options.coordinates, {screen.width, screen.height}));
    DORMOUSE_CO_TRY_ASSIGN(const auto wanted, picture_of_call(options, map));
    DORMOUSE_CO_TRY_ASSIGN(aftermath.screenshot, co_await screenshot(wanted));
    for (const auto& rect : screen_.changed_regions(before.snapshot))
        aftermath.changed.push_back(map.from_screen(Region{rect.x, rect.y, rect.width, rect.height}));
    co_return aftermath;
}

// Waits for the first change that the actions led to, then until it has come to rest.
Task<Result<Settling>> Desktop::settle(Before before, Cancel cancel) {
    const auto self = shared_from_this();
    const auto& clock = host_.loop.clock();
    const auto start = clock.now();
    const auto awaited = std::exchange(awaited_, std::nullopt);
    const Duration silence =
        awaited
            ? (is_emulated() ? Duration{kEmulatedReactionTimeout} : Duration{kReactionTimeout})
            : (is_emulated() ? Duration{kEmulatedSlightReactionTimeout} : Duration{kSlightReactionTimeout});
    const auto generation = awaited ? awaited->generation : before.generation;
    while (screen_.generation() == generation && clock.now() - start < silence) {
        const bool whole = co_await sleep_unless_cancelled(host_.loop, kReactionLook, cancel);
        if (!whole) co_return fail(Errc::Interrupted, "the caller went away");
    }
    auto waiting = screen_.wait_settled({}, kLongestSettling);
    DORMOUSE_CO_TRY_ASSIGN(const auto rest, co_await std::move(waiting));
    co_return Settling{rest.settled, std::chrono::floor<std::chrono::milliseconds>(clock.now() - start)};
}

// A button that is kept down is let go when nobody has acted for a while.
void Desktop::limit_button_hold() {
    if (!input_->keeps_left()) return;
    host_.loop.after(kLongestButtonHold, [weak = weak_from_this(), number = button_hold_] {
        if (const auto self = weak.lock()) spawn(self->end_button_hold(number));
    });
}

Task<void> Desktop::end_button_hold(std::uint64_t number) {
    const auto self = shared_from_this();
    const auto guard = co_await input_mutex_.lock();
    if (button_hold_ != number || closed_ || !input_->keeps_left()) co_return;
    log::info("input.button_released", {{"desktop", row_.id.str()}});
    const auto released = co_await input_->release_all();
    if (!released) log::warn("input.stuck", {{"why", released.error().message}});
}

Task<Result<>> Desktop::wait_reaction(Cancel cancel) {
    const auto self = shared_from_this();
    const auto& clock = host_.loop.clock();
    const auto awaited = std::exchange(awaited_, std::nullopt);
    if (!awaited) co_return Result<>{};
    const Duration least = is_emulated() ? Duration{kEmulatedLeastReaction} : Duration{kLeastReaction};
    const Duration quiet = is_emulated() ? Duration{kEmulatedReactionQuiet} : Duration{kReactionQuiet};
    const Duration longest_silence =
        is_emulated() ? Duration{kEmulatedReactionTimeout} : Duration{kReactionTimeout};
    for (;;) {
        const auto passed = clock.now() - awaited->since;
        const bool changed = screen_.generation() != awaited->generation;
        const auto still = clock.now() - screen_.framebuffer().changed_at();
        if (changed && passed >= least && still >= quiet) co_return Result<>{};
        if (passed >= (changed ? kLongestReaction : longest_silence)) co_return Result<>{};
        const bool whole = co_await sleep_unless_cancelled(host_.loop, kReactionLook, cancel);
        if (!whole) co_return Result<>{};
    }
}

Task<void> Desktop::wait_shown(std::uint64_t before, Cancel cancel) {
    const auto self = shared_from_this();
    const auto& clock = host_.loop.clock();
    const auto start = clock.now();
    const Duration quiet = is_emulated() ? Duration{kEmulatedShownQuiet} : Duration{kShownQuiet};
    const Duration silence =
        is_emulated() ? Duration{kEmulatedSlightReactionTimeout} : Duration{kSlightReactionTimeout};
    for (;;) {
        const auto passed = clock.now() - start;
        const bool changed = screen_.generation() != before;
        if (changed && clock.now() - screen_.framebuffer().changed_at() >= quiet) co_return;
        if (passed >= (changed ? Duration{kLongestReaction} : silence)) co_return;
        const bool whole = co_await sleep_unless_cancelled(host_.loop, kReactionLook, cancel);
        if (!whole) co_return;
    }
}

ActionPorts Desktop::ports() {
    const auto self = shared_from_this();
    return {
        .loop = &host_.loop,
        .input = input_,
        .screen =
            [self] {
                const auto size = self->screen_.size();
                return ScreenSize{size.width, size.height};
            },
        .take_screenshot = [self](PictureOptions options) { return self->screenshot(options); },
        .paste = paste_port(machine_, host_.loop, is_emulated()),
        .mouse = mouse_port(machine_),
        .generation = [self] { return self->screen_.generation(); },
        .focus_may_move =
            [self](std::uint64_t before) {
                self->awaited_ = Awaited{before, self->host_.loop.clock().now()};
            },
        .reaction = [self](Cancel cancel) { return self->wait_reaction(cancel); },
        .shown = [self](std::uint64_t before, Cancel cancel) { return self->wait_shown(before, cancel); }};
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// What is seen and done on a desktop: the part of Desktop that has screen and input.
#include <algorithm>
#include <utility>

#include "hostd/desktop/desktop.h"
#include "vmm/guest_channel.h"

namespace dormouse::desktop {

using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// QEMU sends the first picture within milliseconds of being asked.
constexpr auto kFirstPictureTimeout = 5s;
constexpr auto kAgentTimeout = 10s;
// So long does one question whether the text was fetched wait, at most; in
// between it is seen whether anybody still wants to know.
constexpr auto kPasteSlice = 250ms;
constexpr auto kPasteLook = 50ms;
// From one request for the text to the next, of the same paste.
constexpr auto kPasteQuiet = 250ms;
constexpr auto kEmulatedPasteQuiet = 900ms;
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

}  // namespace

// Attaches the screen on first use.
Task<Result<>> Desktop::need_screen() {
    const auto self = shared_from_this();
    const auto guard = co_await screen_mutex_.lock();
    const auto machine = machine_;
    if (!machine || !machine->alive())
        co_return fail(Errc::Conflict, fmt::format("desktop '{}' is {}", row_.name.str(), state_name(state_)),
                       fmt::format("start it: dormouse start {}", row_.name.str()));
    if (screen_.attached()) co_return co_await screen_.wait_live(kFirstPictureTimeout);
    DORMOUSE_CO_TRY_ASSIGN(auto display, co_await machine->open_display());
    DORMOUSE_CO_TRY(attach_screen(screen_, std::move(display)));
    co_return co_await screen_.wait_live(kFirstPictureTimeout);
}

Task<Result<Picture>> Desktop::screenshot() {
    const auto self = shared_from_this();
    DORMOUSE_CO_TRY(co_await need_screen());
    auto encoding = run_on(host_.pool, host_.loop, screen_.still_job());
    DORMOUSE_CO_TRY_ASSIGN(const auto still, co_await std::move(encoding));
    co_return Picture{still.bytes, still.size.width, still.size.height, still.generation,
                      "image/png", still.size.width, still.size.height};
}

Task<ActAnswer> Desktop::act(std::vector<Action> actions, Cancel cancel) {
    const auto self = shared_from_this();
    const auto guard = co_await input_mutex_.lock();
    if (cancel.cancelled())
        co_return ActAnswer{.failure = Error{Errc::Interrupted, "the caller went away", {}, 0}};
    if (const auto seen = co_await need_screen(); !seen) co_return ActAnswer{.failure = seen.error()};
    co_return co_await run_actions(ports(), std::move(actions), cancel);
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

ActionPorts Desktop::ports() {
    const auto self = shared_from_this();
    return {.loop = &host_.loop,
            .input = input_,
            .screen =
                [self] {
                    const auto size = self->screen_.size();
                    return ScreenSize{size.width, size.height};
                },
            .take_screenshot = [self] { return self->screenshot(); },
            .paste = paste_port(),
            .generation = [self] { return self->screen_.generation(); },
            .focus_may_move =
                [self](std::uint64_t before) {
                    self->awaited_ = Awaited{before, self->host_.loop.clock().now()};
                },
            .reaction = [self](Cancel cancel) { return self->wait_reaction(cancel); }};
}

namespace {

Task<Result<json>> ask(std::weak_ptr<vmm::Machine> machine, std::string method, json params,
                       Duration timeout) {
    const auto held = machine.lock();
    if (!held || !held->alive()) co_return fail(Errc::Unavailable, "the machine is gone");
    auto answer = co_await held->guest().request(std::move(method), std::move(params), timeout);
    if (!answer) co_return fail_in("the agent in the desktop", answer.error());
    co_return answer;
}

Task<Result<std::string>> begin_paste(std::weak_ptr<vmm::Machine> machine, std::string text) {
    json params;
    params["text"] = std::move(text);
    DORMOUSE_CO_TRY_ASSIGN(const auto answer,
                           co_await ask(machine, "paste_text", std::move(params), kAgentTimeout));
    const auto shortcut = answer.find("shortcut");
    // Said by the guest, which is hostile: only what it may say is pressed.
    if (shortcut == answer.end() || (*shortcut != "ctrl+v" && *shortcut != "shift+Insert"))
        co_return fail(Errc::Corrupt, "the agent in the desktop named no way to paste");
    co_return shortcut->get<std::string>();
}

// What the guest says of a paste; whatever does not fit counts as not fetched.
struct PasteProgress {
    bool fetched = false;
    bool by_active_window = false;  // else another program may just have been curious
    std::uint64_t requests = 0;
};

PasteProgress read_progress(const json& answer) {
    const auto flag = [&](const char* name) {
        const auto found = answer.find(name);
        return found != answer.end() && found->is_boolean() && found->get<bool>();
    };
    PasteProgress progress{flag("fetched"), flag("by_active_window"), 0};
    const auto requests = answer.find("requests");
    if (requests != answer.end() && requests->is_number_unsigned())
        progress.requests = requests->get<std::uint64_t>();
    return progress;
}

// Waits until the text was fetched and nobody has asked for more of it for
// `quiet`: Chromium fetches it once for the page's own paste event, and again,
// later, to put it in.
Task<Result<bool>> wait_paste(std::weak_ptr<vmm::Machine> machine, EventLoop& loop, Duration quiet,
                              Duration timeout, Cancel cancel) {
    const auto deadline = loop.clock().now() + timeout;
    auto last_request = loop.clock().now();
    PasteProgress seen;
    while (!cancel.cancelled()) {
        const auto now = loop.clock().now();
        if (seen.fetched && seen.by_active_window && now - last_request >= quiet) co_return true;
        if (now >= deadline) co_return seen.fetched;
        json params;
        params["timeout_ms"] = std::chrono::milliseconds{kPasteSlice}.count();
        DORMOUSE_CO_TRY_ASSIGN(const auto answer,
                               co_await ask(machine, "paste_wait", std::move(params), kAgentTimeout));
        const auto progress = read_progress(answer);
        if (progress.requests != seen.requests) last_request = loop.clock().now();
        seen = progress;
        if (seen.fetched) (void)co_await sleep_unless_cancelled(loop, kPasteLook, cancel);
    }
    co_return false;
}

Task<Result<>> end_paste(std::weak_ptr<vmm::Machine> machine) {
    DORMOUSE_CO_TRY(co_await ask(machine, "paste_restore", json::object(), kAgentTimeout));
    co_return Result<>{};
}

}  // namespace

PastePort Desktop::paste_port() {
    const std::weak_ptr<vmm::Machine> machine = machine_;
    const Duration quiet = is_emulated() ? Duration{kEmulatedPasteQuiet} : Duration{kPasteQuiet};
    return {.begin = [machine](std::string text) { return begin_paste(machine, std::move(text)); },
            .wait_fetched = [machine, loop = &host_.loop, quiet](
                                Duration timeout,
                                Cancel cancel) { return wait_paste(machine, *loop, quiet, timeout, cancel); },
            .restore = [machine] { return end_paste(machine); }};
}

}  // namespace dormouse::desktop

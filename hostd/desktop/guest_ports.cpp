// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/guest_ports.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "guest/protocol/messages.h"
#include "vmm/guest_channel.h"

namespace dormouse::desktop {

using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr auto kAgentTimeout = 10s;
// A guest whose pointer is somewhere else after that has moved it itself.
constexpr auto kLongestSync = 1s;
constexpr auto kSyncLook = 10ms;
// So long does one question whether the text was fetched wait, at most; in
// between it is seen whether anybody still wants to know.
constexpr auto kPasteSlice = 250ms;
constexpr auto kPasteLook = 50ms;
// From one request for the text to the next, of the same paste: about as long as
// the first took to come after the shortcut, so it is waited half as long again
// (tried on a busy host: with a fixed time the second request of one paste came
// in the time of the next, which then was taken for done and was pasted empty).
constexpr auto kLeastPasteQuiet = 100ms;
constexpr auto kEmulatedLeastPasteQuiet = 400ms;
constexpr auto kLongestPasteQuiet = 4s;

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

// One paste as the host sees it.
struct PasteWatch {
    std::uint64_t requests_before = 0;  // by whoever is curious, before the shortcut
    MonotonicTime pressed_at{};
    Duration least_quiet{};
};

Task<Result<PasteProgress>> look_at_paste(std::weak_ptr<vmm::Machine> machine, Duration wait) {
    json params;
    params["timeout_ms"] = std::chrono::floor<std::chrono::milliseconds>(wait).count();
    DORMOUSE_CO_TRY_ASSIGN(const auto answer,
                           co_await ask(machine, "paste_wait", std::move(params), kAgentTimeout));
    co_return read_progress(answer);
}

Task<void> before_shortcut(std::weak_ptr<vmm::Machine> machine, EventLoop& loop,
                           std::shared_ptr<PasteWatch> watch) {
    const auto seen = co_await look_at_paste(machine, Duration::zero());
    watch->requests_before = seen ? seen->requests : 0;
    watch->pressed_at = loop.clock().now();
}

// Waits until the text was fetched and nobody has asked for more of it for a
// while: Chromium fetches it once for the page's own paste event, and again,
// later, to put it in.
Task<Result<bool>> wait_paste(std::weak_ptr<vmm::Machine> machine, EventLoop& loop,
                              std::shared_ptr<PasteWatch> watch, Duration timeout, Cancel cancel) {
    const auto deadline = loop.clock().now() + timeout;
    auto last_request = loop.clock().now();
    std::uint64_t requests = watch->requests_before;
    Duration quiet = watch->least_quiet;
    bool taken = false;
    while (!cancel.cancelled()) {
        const auto now = loop.clock().now();
        if (taken && (now - last_request >= quiet || now >= deadline + kLongestPasteQuiet)) co_return true;
        if (!taken && now >= deadline) co_return requests > watch->requests_before;
        DORMOUSE_CO_TRY_ASSIGN(const auto seen, co_await look_at_paste(machine, kPasteSlice));
        if (seen.requests > requests) {
            last_request = loop.clock().now();
            if (requests == watch->requests_before)
                quiet = std::clamp((last_request - watch->pressed_at) * 3 / 2, quiet,
                                   Duration{kLongestPasteQuiet});
        }
        requests = std::max(requests, seen.requests);
        taken = requests > watch->requests_before && seen.by_active_window;
        if (seen.fetched) (void)co_await sleep_unless_cancelled(loop, kPasteLook, cancel);
    }
    co_return false;
}

Task<Result<>> end_paste(std::weak_ptr<vmm::Machine> machine) {
    auto answer = co_await ask(machine, "paste_restore", json::object(), kAgentTimeout);
    // Conflict: nothing was begun.
    if (!answer && answer.error().code != Errc::Conflict) co_return fail(answer.error());
    co_return Result<>{};
}

// ---- the mouse

bool knows(const std::weak_ptr<vmm::Machine>& machine, std::string_view method) {
    const auto held = machine.lock();
    if (!held || !held->alive() || !held->guest().ready()) return false;
    const auto& info = held->guest().info();
    return info && info->knows(method);
}

std::optional<int> small_number(const json& answer, const char* name) {
    const auto found = answer.find(name);
    if (found == answer.end() || !found->is_number_integer()) return std::nullopt;
    const auto value = found->get<std::int64_t>();
    if (value < 0 || value > 32767) return std::nullopt;
    return static_cast<int>(value);
}

Task<Result<Point>> find_pointer(std::weak_ptr<vmm::Machine> machine) {
    DORMOUSE_CO_TRY_ASSIGN(const auto answer, co_await ask(machine, std::string{guest::method::kPointer},
                                                           json::object(), kAgentTimeout));
    const auto x = small_number(answer, "x");
    const auto y = small_number(answer, "y");
    if (!x || !y) co_return fail(Errc::Corrupt, "the agent in the desktop named no place");
    co_return Point{*x, *y};
}

std::string_view direction_name(ScrollDirection direction) {
    switch (direction) {
        case ScrollDirection::Up:
            return "up";
        case ScrollDirection::Down:
            return "down";
        case ScrollDirection::Left:
            return "left";
        case ScrollDirection::Right:
            return "right";
    }
    return "down";
}

// The modifiers as the agent knows them; of other keys it cannot tell.
json modifier_names(const Chord& held) {
    auto names = json::array();
    const auto add = [&](std::string_view prefix, const char* name) {
        const bool any = std::any_of(held.keys.begin(), held.keys.end(),
                                     [&](QKeyCode key) { return key.substr(0, prefix.size()) == prefix; });
        if (any) names.push_back(name);
    };
    add("shift", "shift");
    add("ctrl", "ctrl");
    add("alt", "alt");
    add("meta", "super");
    return names;
}

json wheel_request(const WheelTurns& turns) {
    json params{{"direction", direction_name(turns.direction)},
                {"amount", turns.amount},
                {"modifiers", modifier_names(turns.held)}};
    if (turns.at) params.update({{"x", turns.at->x}, {"y", turns.at->y}});
    return params;
}

Task<Result<bool>> turn_wheel(std::weak_ptr<vmm::Machine> machine, WheelTurns turns) {
    if (!knows(machine, guest::method::kWheel)) co_return false;
    auto params = wheel_request(turns);
    DORMOUSE_CO_TRY(
        co_await ask(machine, std::string{guest::method::kWheel}, std::move(params), kAgentTimeout));
    co_return true;
}

Task<void> wait_taken(std::weak_ptr<vmm::Machine> machine, EventLoop& loop, std::optional<Point> position) {
    const auto deadline = loop.clock().now() + kLongestSync;
    while (knows(machine, guest::method::kPointer)) {
        auto question =
            ask(machine, std::string{guest::method::kPointer}, json::object(), Duration{kLongestSync});
        const auto answer = co_await std::move(question);
        if (!answer || !position) co_return;
        if (small_number(*answer, "x") == position->x && small_number(*answer, "y") == position->y) co_return;
        if (loop.clock().now() >= deadline) co_return;
        co_await loop.sleep(kSyncLook);
    }
}

}  // namespace

InputDevice::Sync input_sync(std::weak_ptr<vmm::Machine> machine, EventLoop& loop) {
    return [machine, loop = &loop](std::optional<Point> position) {
        return wait_taken(machine, *loop, position);
    };
}

PastePort paste_port(std::weak_ptr<vmm::Machine> machine, EventLoop& loop, bool emulated) {
    auto watch = std::make_shared<PasteWatch>();
    watch->least_quiet = emulated ? Duration{kEmulatedLeastPasteQuiet} : Duration{kLeastPasteQuiet};
    return {
        .begin = [machine](std::string text) { return begin_paste(machine, std::move(text)); },
        .before_shortcut = [machine, loop = &loop, watch] { return before_shortcut(machine, *loop, watch); },
        .wait_fetched = [machine, loop = &loop, watch](
                            Duration timeout,
                            Cancel cancel) { return wait_paste(machine, *loop, watch, timeout, cancel); },
        .restore = [machine] { return end_paste(machine); }};
}

GuestMousePort mouse_port(std::weak_ptr<vmm::Machine> machine) {
    return {.position = [machine] { return find_pointer(machine); },
            .turn_wheel = [machine](WheelTurns turns) { return turn_wheel(machine, std::move(turns)); }};
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/methods.h"

#include <map>

#include "guest/agent/exec_method.h"
#include "guest/agent/mouse.h"
#include "guest/agent/params.h"
#include "guest/agent/window_info.h"
#include "hostd/base/log.h"

namespace dormouse::agent {

namespace {

namespace method = guest::method;
using nlohmann::json;

// Smaller steps than a message may take to get here would only make time jump.
constexpr auto kClockTolerance = std::chrono::milliseconds{100};
constexpr std::int64_t kMaxPasteWait = 60'000;
constexpr std::int64_t kMaxWheelTurns = 100;

Result<Selection> selection_named(const json& value, const char* field) {
    if (value == "clipboard") return Selection::Clipboard;
    if (value == "primary") return Selection::Primary;
    return Params::wrong(field, "\"clipboard\" or \"primary\"");
}

Result<XConnection*> need_x(Services& services) {
    auto* x = services.session->connection();
    if (!x) return fail(Errc::Unavailable, "the desktop's X server is not there");
    return x;
}

json size_json(const ScreenSize& size) {
    return {{"width", size.width}, {"height", size.height}};
}

Result<json> ping(Services&, Params params) {
    DORMOUSE_TRY(params.done());
    return json::object();
}

Result<json> status(Services& services, Params params) {
    DORMOUSE_TRY(params.done());
    DesktopStatus found;
    if (auto* x = services.session->connection()) found = read_status(*x);
    json body{{"x_ready", services.session->connection() != nullptr},
              {"session_ready", found.session_ready},
              {"browser_window", found.browser_window},
              {"screen", nullptr},
              {"active_window", nullptr},
              {"uptime_seconds", services.system.uptime_seconds()}};
    if (found.screen) body["screen"] = size_json(*found.screen);
    if (found.active)
        body["active_window"] = {{"class", found.active->window_class}, {"title", found.active->title}};
    return body;
}

Result<json> screen_size(Services& services, Params params) {
    DORMOUSE_TRY(params.done());
    DORMOUSE_TRY_ASSIGN(auto* x, need_x(services));
    const auto size = read_screen_size(*x);
    if (!size) return fail(Errc::Unavailable, "the X server does not answer");
    return size_json(*size);
}

Result<json> pointer(Services& services, Params params) {
    DORMOUSE_TRY(params.done());
    DORMOUSE_TRY_ASSIGN(auto* x, need_x(services));
    const auto state = read_pointer(*x);
    if (!state) return fail(Errc::Unavailable, "the X server does not answer");
    return json{{"x", state->x}, {"y", state->y}};
}

Result<json> set_time(Services& services, Params params) {
    DORMOUSE_TRY_ASSIGN(const auto time, params.integer("unix_ns", 1, INT64_MAX));
    DORMOUSE_TRY(params.done());
    return apply_time(services.system, time);
}

Result<json> clipboard_set(Services& services, Params params) {
    DORMOUSE_TRY_ASSIGN(auto text, params.text("text", guest::kMaxText));
    std::vector<Selection> which{Selection::Clipboard};
    if (const auto* list = params.take("selections")) {
        if (!list->is_array() || list->empty() || list->size() > 2)
            return Params::wrong("selections", "a list of one or two");
        which.clear();
        for (const auto& name : *list) {
            DORMOUSE_TRY_ASSIGN(const auto selection, selection_named(name, "selections"));
            which.push_back(selection);
        }
    }
    DORMOUSE_TRY(params.done());
    DORMOUSE_TRY(services.clipboard->set(std::move(text), which));
    return json::object();
}

Result<json> paste_restore(Services& services, Params params) {
    DORMOUSE_TRY(params.done());
    DORMOUSE_TRY_ASSIGN(const bool restored, services.clipboard->paste_restore());
    return json{{"restored", restored}};
}

Result<json> power(Services& services, const Params& params, PowerAction action) {
    DORMOUSE_TRY(params.done());
    services.system.power(action);
    return json::object();
}
Result<json> poweroff(Services& services, Params params) {
    return power(services, params, PowerAction::Off);
}
Result<json> reboot(Services& services, Params params) {
    return power(services, params, PowerAction::Reboot);
}

using Shared = std::shared_ptr<Services>;

json text_json(std::string text) {
    return {{"text", std::move(text)}};
}

Task<Result<json>> clipboard_get(Shared services, Params params) {
    auto which = Selection::Clipboard;
    if (const auto* name = params.take("selection")) {
        DORMOUSE_CO_TRY_ASSIGN(which, selection_named(*name, "selection"));
    }
    DORMOUSE_CO_TRY(params.done());
    DORMOUSE_CO_TRY_ASSIGN(auto text, co_await services->clipboard->get(which));
    co_return text_json(std::move(text));
}

json start_json(const Clipboard::PasteStart& start) {
    return {{"shortcut", start.terminal ? "shift+Insert" : "ctrl+v"}, {"window_class", start.window_class}};
}

Task<Result<json>> paste_text(Shared services, Params params) {
    DORMOUSE_CO_TRY_ASSIGN(auto text, params.text("text", guest::kMaxText));
    DORMOUSE_CO_TRY(params.done());
    DORMOUSE_CO_TRY_ASSIGN(const auto start, co_await services->clipboard->paste_text(std::move(text)));
    co_return start_json(start);
}

json wait_json(const Clipboard::PasteResult& result) {
    return {{"fetched", result.fetched},
            {"by_active_window", result.by_active_window},
            {"requests", result.requests}};
}

Task<Result<json>> paste_wait(Shared services, Params params) {
    DORMOUSE_CO_TRY_ASSIGN(const auto timeout, params.integer("timeout_ms", 0, kMaxPasteWait));
    DORMOUSE_CO_TRY(params.done());
    const auto limit = std::chrono::milliseconds{timeout};
    DORMOUSE_CO_TRY_ASSIGN(const auto result, co_await services->clipboard->paste_wait(limit));
    co_return wait_json(result);
}

const std::map<std::string, WheelButton> kWheelButtons{{"up", WheelButton::Up},
                                                       {"down", WheelButton::Down},
                                                       {"left", WheelButton::Left},
                                                       {"right", WheelButton::Right}};
const std::map<std::string, std::uint16_t> kModifierMasks{{"shift", XCB_KEY_BUT_MASK_SHIFT},
                                                          {"ctrl", XCB_KEY_BUT_MASK_CONTROL},
                                                          {"alt", XCB_KEY_BUT_MASK_MOD_1},
                                                          {"super", XCB_KEY_BUT_MASK_MOD_4}};

Result<std::uint16_t> modifier_mask(const json& names) {
    std::uint16_t mask = 0;
    const bool list = names.is_array() && names.size() <= kModifierMasks.size();
    if (!list) return Params::wrong("modifiers", "a list of shift, ctrl, alt, super");
    for (const auto& name : names) {
        const auto found =
            name.is_string() ? kModifierMasks.find(name.get<std::string>()) : kModifierMasks.end();
        if (found == kModifierMasks.end())
            return Params::wrong("modifiers", "a list of shift, ctrl, alt, super");
        mask = static_cast<std::uint16_t>(mask | found->second);
    }
    return mask;
}

Result<WheelTurns> read_turns(Params params) {
    WheelTurns turns;
    DORMOUSE_TRY_ASSIGN(const auto direction, params.text("direction", 10));
    const auto button = kWheelButtons.find(direction);
    if (button == kWheelButtons.end()) return Params::wrong("direction", "up, down, left or right");
    turns.button = button->second;
    DORMOUSE_TRY_ASSIGN(const auto amount, params.integer("amount", 1, kMaxWheelTurns));
    turns.amount = static_cast<int>(amount);
    if (params.take("x") || params.take("y")) {
        DORMOUSE_TRY_ASSIGN(const auto x, params.integer("x", 0, INT16_MAX));
        DORMOUSE_TRY_ASSIGN(const auto y, params.integer("y", 0, INT16_MAX));
        turns.at = {static_cast<int>(x), static_cast<int>(y)};
    }
    if (const auto* names = params.take("modifiers")) {
        DORMOUSE_TRY_ASSIGN(turns.modifiers, modifier_mask(*names));
    }
    DORMOUSE_TRY(params.done());
    return turns;
}

json arrived_json(bool arrived) {
    return {{"arrived", arrived}};
}

Task<Result<json>> wheel(Shared services, Params params) {
    DORMOUSE_CO_TRY_ASSIGN(const auto turns, read_turns(std::move(params)));
    DORMOUSE_CO_TRY_ASSIGN(const bool arrived, co_await turn_wheel(services->loop, services->session, turns));
    co_return arrived_json(arrived);
}

json trimmed_json(bool trimmed) {
    return {{"trimmed", trimmed}};
}

Task<Result<json>> quiesce(Shared services, Params params) {
    DORMOUSE_CO_TRY(params.done());
    DORMOUSE_CO_TRY_ASSIGN(const bool trimmed, co_await services->system.quiesce());
    co_return trimmed_json(trimmed);
}

Task<Result<json>> exec_method(Shared services, Params params) {
    return run_exec(services->loop, std::move(params));
}

// Those that answer at once, and those that have to wait for something.
using AtOnce = Result<json> (*)(Services&, Params);
using Later = Task<Result<json>> (*)(Shared, Params);

const std::map<std::string_view, AtOnce> kAtOnce{
    {method::kPing, ping},
    {method::kStatus, status},
    {method::kSetTime, set_time},
    {method::kScreenSize, screen_size},
    {method::kPointer, pointer},
    {method::kClipboardSet, clipboard_set},
    {method::kPasteRestore, paste_restore},
    {method::kPoweroff, poweroff},
    {method::kReboot, reboot},
};
const std::map<std::string_view, Later> kLater{
    {method::kClipboardGet, clipboard_get}, {method::kPasteText, paste_text},
    {method::kPasteWait, paste_wait},       {method::kQuiesce, quiesce},
    {method::kExec, exec_method},           {method::kWheel, wheel},
};

}  // namespace

std::shared_ptr<Services> make_services(EventLoop& loop, System& system, const std::string& display) {
    auto session = std::make_shared<XSession>(loop, display);
    auto clipboard = Clipboard::create(loop, session);
    return std::make_shared<Services>(Services{loop, system, std::move(session), std::move(clipboard)});
}

std::vector<std::string> method_names() {
    std::vector<std::string> names;
    for (const auto& [name, handler] : kAtOnce) names.emplace_back(name);
    for (const auto& [name, handler] : kLater) names.emplace_back(name);
    return names;
}

json apply_time(System& system, std::int64_t unix_ns) {
    const WallTime wanted{Duration{unix_ns}};
    const auto offset = wanted - system.wall();
    bool stepped = false;
    if (std::chrono::abs(offset) >= kClockTolerance) {
        const auto done = system.set_wall(wanted);
        stepped = done.has_value();
        if (!done) log::warn("agent.clock_not_set", {{"why", done.error().message}});
    }
    return {{"offset_ms", std::chrono::duration_cast<std::chrono::milliseconds>(offset).count()},
            {"stepped", stepped}};
}

Task<Result<json>> call_method(std::shared_ptr<Services> services, guest::Request request) {
    if (const auto found = kAtOnce.find(request.method); found != kAtOnce.end()) {
        co_return found->second(*services, Params{std::move(request.params)});
    }
    if (const auto found = kLater.find(request.method); found != kLater.end()) {
        auto task = found->second(services, Params{std::move(request.params)});
        co_return co_await std::move(task);
    }
    co_return fail(Errc::NotFound, fmt::format("the agent has no method \"{}\"", request.method));
}

}  // namespace dormouse::agent

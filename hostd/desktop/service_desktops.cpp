// SPDX-License-Identifier: Apache-2.0
// Desktops come, are looked at and acted on, and go.
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "hostd/base/log.h"
#include "hostd/base/random.h"
#include "hostd/desktop/cursor.h"
#include "hostd/desktop/names.h"
#include "hostd/desktop/service.h"

namespace dormouse::desktop {

namespace {

// For callers that name none.
constexpr int kNameTries = 20;

}  // namespace

// What a caller with limits makes must be there for it.
Result<> Service::fit_to_caller(CreateDesktop& request, const Caller& caller) const {
    const auto& limits = caller.limits;
    if (!limits.desktops.empty()) {
        const auto& names = limits.desktops;
        if (request.name && std::find(names.begin(), names.end(), request.name->str()) != names.end())
            return {};
        return fail(
            Errc::Denied,
            fmt::format("this token is for the desktops {} and makes no others", fmt::join(names, ", ")),
            "give the new desktop one of these names");
    }
    if (!limits.label) return {};
    const auto [label, added] = request.labels.emplace(limits.label->key, *limits.label->value);
    if (!added && label->second != *limits.label->value)
        return fail(Errc::Denied,
                    fmt::format("labels.{}: this token makes desktops with the value '{}'", limits.label->key,
                                *limits.label->value),
                    "leave this label out: it is added");
    return check_labels(request.labels);
}

Result<> Service::check_room(const Caller& caller) const {
    const auto& limits = host_.config.limits;
    if (limits.desktops > 0 && desktops_.size() >= static_cast<std::size_t>(limits.desktops))
        return fail(Errc::Unavailable, fmt::format("this host has its {} desktops already", limits.desktops),
                    "delete one, or raise 'desktops' under [limits] in config.toml");
    if (limits.desktops_per_token <= 0) return {};
    const auto own = std::count_if(desktops_.begin(), desktops_.end(), [&](const auto& entry) {
        return entry.second->created_by() == caller.token;
    });
    if (own >= limits.desktops_per_token)
        return fail(Errc::Unavailable,
                    fmt::format("this token has made its {} desktops already", limits.desktops_per_token),
                    "delete one, or raise 'desktops_per_token' under [limits] in config.toml");
    return {};
}

Task<Result<db::DesktopRow>> Service::insert_row(CreateDesktop request, Template image, Caller caller) {
    for (int tries = 0;; ++tries) {
        DORMOUSE_CO_TRY_ASSIGN(auto id, DesktopId::parse("d-" + random_hex(5)));
        auto name = request.name;
        if (!name) {
            DORMOUSE_CO_TRY_ASSIGN(name, DesktopName::parse(make_up_name()));
        }
        db::DesktopRow row{
            .id = std::move(id),
            .name = std::move(*name),
            .image = image.name,
            .template_hash = image.hash,
            .state = std::string{state_name(State::Creating)},
            .vm_uuid = random_uuid(),
            .memory_mib = image.memory_mib,
            .cpus = image.cpus,
            .screen_width = image.screen_width,
            .screen_height = image.screen_height,
            .accelerator = vmm::accelerator_name(host_.accelerator.accelerator),
            .created_at = std::chrono::floor<std::chrono::milliseconds>(host_.loop.clock().wall()),
            .network = std::string{net::mode_name(request.network)},
            .labels = request.labels,
            .created_by = caller.token};
        row.updated_at = row.created_at;
        auto insert = on_store([&stores = stores_, row, once = caller.once]() -> Result<> {
            // First, so that a daemon that ends in between knows what the key has made.
            if (once) DORMOUSE_TRY(stores.idempotency.set_made(row.created_by, once->key, row.id.str()));
            return stores.desktops.insert(row);
        });
        auto inserted = co_await std::move(insert);
        if (inserted) co_return row;
        if (request.name || inserted.error().code != Errc::Conflict || tries >= kNameTries)
            co_return fail(inserted.error());
    }
}

std::shared_ptr<Desktop> Service::add(Template image, db::DesktopRow row, State state) {
    const auto id = row.id;
    auto save = [this](db::DesktopRow changed) -> Task<Result<>> {
        return on_store(
            [&stores = stores_, changed = std::move(changed)] { return stores.desktops.update(changed); });
    };
    auto save_destinations = [this, id](db::DestinationReport report) -> Task<Result<>> {
        return on_store([&stores = stores_, id, report = std::move(report)] {
            return stores.destinations.add(id, report);
        });
    };
    auto desktop = std::make_shared<Desktop>(host_, std::move(image), std::move(row), state, std::move(save),
                                             std::move(save_destinations));
    desktop->set_listener([this](const Desktop& which, DesktopChange change) { on_desktop(which, change); });
    desktops_.emplace(id, desktop);
    return desktop;
}

// Answers when the desktop can be used; else nothing of it is left.
Task<Result<DesktopInfo>> Service::bring_up(std::shared_ptr<Desktop> desktop) {
    const auto created = co_await desktop->create();
    if (created) co_return desktop->info();
    log::error("desktop.create", {{"desktop", desktop->id().str()}, {"why", created.error().message}});
    if (const auto removed = co_await forget(desktop); !removed)
        log::error("desktop.leftover", {{"desktop", desktop->id().str()}, {"why", removed.error().message}});
    co_return fail(created.error());
}

Task<void> Service::bring_up_as(OperationHandle operation, std::shared_ptr<Desktop> desktop) {
    // Without its machine, what waits for it ends.
    operation.cancel().on_cancel([weak = std::weak_ptr{desktop}] {
        if (const auto unwanted = weak.lock()) spawn(unwanted->remove());
    });
    operation.set_step("waking the desktop");
    auto created = co_await bring_up(desktop);
    if (created) {
        operation.finish(Result<OperationResult>{OperationResult{.desktop = std::move(*created)}});
    } else {
        operation.finish(Result<OperationResult>{fail(created.error())});
    }
}

Task<Result<Answer>> Service::run(CreateDesktop request, Asked asked) {
    DORMOUSE_CO_TRY(fit_to_caller(request, asked.caller));
    DORMOUSE_CO_TRY(check_labels(request.labels));
    DORMOUSE_CO_TRY(check_room(asked.caller));
    DORMOUSE_CO_TRY_ASSIGN(auto image, templates_.newest(request.image));
    const bool async = request.async;
    // Nobody removes it while the row is written.
    const auto pinned = pinned_templates_.insert(image.hash);
    auto row = co_await insert_row(std::move(request), image, asked.caller);
    pinned_templates_.erase(pinned);
    if (!row) co_return fail(row.error());
    const auto desktop = add(std::move(image), std::move(*row), State::Creating);
    publish(EventType::DesktopCreated, desktop->info());
    if (async) {
        auto begun = operations_.begin({.kind = std::string{CreateDesktop::traits.name},
                                        .token = asked.caller.token,
                                        .desktop = desktop->id(),
                                        .image = desktop->info().image});
        if (!begun) {
            DORMOUSE_CO_TRY(co_await forget(desktop));
            co_return fail(begun.error());
        }
        spawn(bring_up_as(*begun, desktop));
        co_return Answer{begun->info()};
    }
    DORMOUSE_CO_TRY_ASSIGN(auto info, co_await bring_up(desktop));
    co_return Answer{std::move(info)};
}

namespace {

constexpr char kDesktopCursor = 'd';

// Their order: stays the same for as long as a desktop lives.
Cursor place_of(const DesktopInfo& info) {
    const auto at = std::chrono::floor<std::chrono::milliseconds>(info.created_at).time_since_epoch();
    return {.number = at.count(), .name = info.id.str()};
}

bool is_behind(const Cursor& place, const Cursor& other) {
    return std::tie(place.number, place.name) > std::tie(other.number, other.name);
}

bool fits_request(const DesktopInfo& info, const ListDesktops& request) {
    const auto& states = request.states;
    if (!states.empty() && std::find(states.begin(), states.end(), info.state) == states.end()) return false;
    if (request.image && info.image != *request.image) return false;
    return fits(info.labels, request.labels);
}

}  // namespace

Task<Result<Answer>> Service::run(ListDesktops request, Asked asked) {
    std::optional<Cursor> after;
    if (request.cursor) {
        DORMOUSE_CO_TRY_ASSIGN(after, decode_cursor(kDesktopCursor, *request.cursor));
    }
    std::vector<DesktopInfo> all;
    for (const auto& [id, each] : desktops_) {
        if (!sees(asked.caller.limits, id.str(), each->name().str(), each->labels())) continue;
        auto info = each->info();
        if (!fits_request(info, request) || (after && !is_behind(place_of(info), *after))) continue;
        all.push_back(std::move(info));
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return is_behind(place_of(b), place_of(a)); });
    DesktopPage page;
    const auto limit = static_cast<std::size_t>(request.limit);
    if (all.size() > limit) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(limit), all.end());
        page.next_cursor = encode_cursor(kDesktopCursor, place_of(all.back()));
    }
    page.desktops = std::move(all);
    co_return Answer{std::move(page)};
}

Task<Result<>> Service::describe(std::shared_ptr<Desktop> desktop, UpdateDesktop request, Caller caller) {
    const auto guard = co_await desktop->describing().lock();
    const auto name = request.name.value_or(desktop->name());
    auto labels = desktop->labels();
    for (const auto& [key, value] : request.labels) {
        if (value) {
            labels.insert_or_assign(key, *value);
        } else {
            labels.erase(key);
        }
    }
    DORMOUSE_CO_TRY(check_labels(labels));
    if (!sees(caller.limits, desktop->id().str(), name.str(), labels))
        co_return fail(Errc::Denied, "this token would not see the desktop any more",
                       "leave the name or the label that it is limited to as it is");
    if (name == desktop->name() && labels == desktop->labels()) co_return Result<>{};
    const auto now = std::chrono::floor<std::chrono::milliseconds>(host_.loop.clock().wall());
    auto saving = on_store([&stores = stores_, id = desktop->id(), name, labels, now] {
        return stores.desktops.describe(id, name, labels, now);
    });
    DORMOUSE_CO_TRY(co_await std::move(saving));
    desktop->describe(name, std::move(labels), now);
    co_return Result<>{};
}

Task<Result<Answer>> Service::run(UpdateDesktop request, Asked asked) {
    const auto desktop = asked.desktop;
    const auto network = request.network;
    // First what can be refused.
    auto describing = describe(desktop, std::move(request), asked.caller);
    DORMOUSE_CO_TRY(co_await std::move(describing));
    if (network) DORMOUSE_CO_TRY(co_await desktop->set_network(*network));
    co_return Answer{desktop->info()};
}

Task<Result<Answer>> Service::run(GetDesktop, Asked asked) {
    co_return Answer{asked.desktop->info()};
}

Task<Result<Answer>> Service::run(StartDesktop, Asked asked) {
    DORMOUSE_CO_TRY(co_await asked.desktop->start());
    co_return Answer{asked.desktop->info()};
}

Task<Result<Answer>> Service::run(StopDesktop, Asked asked) {
    DORMOUSE_CO_TRY(co_await asked.desktop->stop());
    co_return Answer{asked.desktop->info()};
}

Task<Result<Answer>> Service::run(RestartDesktop, Asked asked) {
    DORMOUSE_CO_TRY(co_await asked.desktop->restart());
    co_return Answer{asked.desktop->info()};
}

Task<Result<Answer>> Service::run(TakeScreenshot request, Asked asked) {
    DORMOUSE_CO_TRY_ASSIGN(auto picture, co_await asked.desktop->screenshot(request.picture));
    co_return Answer{std::move(picture)};
}

Task<Result<Answer>> Service::run(Act request, Asked asked) {
    auto acting = asked.desktop->act(std::move(request.actions), std::move(request.options), asked.cancel);
    co_return Answer{co_await std::move(acting)};
}

Task<Result<Answer>> Service::run(RunProgram request, Asked asked) {
    auto running = asked.desktop->run_program(std::move(request));
    DORMOUSE_CO_TRY_ASSIGN(auto result, co_await std::move(running));
    co_return Answer{std::move(result)};
}

// Its files first, its row last: what is interrupted is finished by recover().
Task<Result<>> Service::forget(std::shared_ptr<Desktop> desktop) {
    DORMOUSE_CO_TRY(co_await desktop->remove());
    const auto id = desktop->id();
    auto removal = on_store([&stores = stores_, id]() -> Result<> {
        DORMOUSE_TRY(stores.destinations.remove(id));
        return stores.desktops.remove(id);
    });
    DORMOUSE_CO_TRY(co_await std::move(removal));
    const auto last = desktop->info();
    if (desktops_.erase(id) > 0) publish(EventType::DesktopDeleted, last);
    co_return Result<>{};
}

Task<Result<Answer>> Service::run(DeleteDesktop, Asked asked) {
    DORMOUSE_CO_TRY(co_await forget(asked.desktop));
    co_return Answer{Done{}};
}

}  // namespace dormouse::desktop

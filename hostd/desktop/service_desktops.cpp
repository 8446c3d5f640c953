// SPDX-License-Identifier: Apache-2.0
// Desktops come, are looked at and acted on, and go.
#include <algorithm>

#include "hostd/base/log.h"
#include "hostd/base/random.h"
#include "hostd/desktop/names.h"
#include "hostd/desktop/service.h"

namespace dormouse::desktop {

namespace {

// For callers that name none.
constexpr int kNameTries = 20;

}  // namespace

Task<Result<db::DesktopRow>> Service::insert_row(CreateDesktop request, Template image) {
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
            .network = std::string{net::mode_name(request.network)}};
        auto insert = on_store([&stores = stores_, row] { return stores.desktops.insert(row); });
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
    auto desktop = std::make_shared<Desktop>(host_, std::move(image), std::move(row), state, std::move(save));
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
    DORMOUSE_CO_TRY_ASSIGN(auto image, templates_.newest(request.image));
    std::optional<OperationHandle> operation;
    if (request.async) {
        auto begun = operations_.begin({.kind = std::string{CreateDesktop::traits.name},
                                        .token = asked.caller.token,
                                        .desktop = {},
                                        .image = image.name});
        if (!begun) co_return fail(begun.error());
        operation = std::move(*begun);
    }
    // Nobody removes it while the row is written.
    const auto pinned = pinned_templates_.insert(image.hash);
    auto row = co_await insert_row(std::move(request), image);
    pinned_templates_.erase(pinned);
    if (!row) {
        // Nobody was told of the operation: the answer is the error.
        if (operation) operation->finish(Result<>{fail(row.error())});
        co_return fail(row.error());
    }
    const auto desktop = add(std::move(image), std::move(*row), State::Creating);
    if (operation) {
        operation->set_desktop(desktop->id());
        spawn(bring_up_as(*operation, desktop));
        co_return Answer{operation->info()};
    }
    DORMOUSE_CO_TRY_ASSIGN(auto info, co_await bring_up(desktop));
    co_return Answer{std::move(info)};
}

Task<Result<Answer>> Service::run(ListDesktops, Asked) {
    std::vector<DesktopInfo> all;
    for (const auto& [id, each] : desktops_) all.push_back(each->info());
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.created_at < b.created_at; });
    co_return Answer{std::move(all)};
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
    desktops_.erase(id);
    co_return Result<>{};
}

Task<Result<Answer>> Service::run(DeleteDesktop, Asked asked) {
    DORMOUSE_CO_TRY(co_await forget(asked.desktop));
    co_return Answer{Done{}};
}

}  // namespace dormouse::desktop

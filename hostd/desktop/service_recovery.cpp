// SPDX-License-Identifier: Apache-2.0
// What the service does when the daemon has started again.
#include <filesystem>
#include <set>

#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/desktop/service.h"
#include "hostd/desktop/template_bake.h"

namespace dormouse::desktop {

Task<Result<>> Service::recover() {
    auto reading = on_store([&stores = stores_] { return stores.desktops.list(); });
    DORMOUSE_CO_TRY_ASSIGN(auto rows, co_await std::move(reading));
    DORMOUSE_CO_TRY(co_await recover_events());
    DORMOUSE_CO_TRY(co_await load_tokens());
    for (auto& row : rows) co_await recover_row(std::move(row));
    DORMOUSE_CO_TRY(co_await recover_once());
    DORMOUSE_CO_TRY(co_await recover_operations());
    tidy_up();
    co_await end_orphans();
    collect_templates();
    const bool clean = co_await clean_up_after_bakes(host_);
    if (!clean) spawn(clean_up_when_bakes_have_ended(host_));
    co_return Result<>{};
}

Task<void> Service::recover_row(db::DesktopRow row) {
    const auto state = parse_state(row.state);
    auto image = templates_.find(row.image, row.template_hash);
    if (!state || !image) {
        // Shown and deletable, but nothing can be started without its template.
        const auto why = state ? image.error().message : state.error().message;
        log::error("desktop.recover", {{"desktop", row.id.str()}, {"why", why}});
        if (!image) image = Template{.name = row.image, .hash = row.template_hash};
        row.reason = why;
        add(*image, std::move(row), State::Failed);
        co_return;
    }
    const auto desktop = add(std::move(*image), std::move(row), *state);
    // Nobody was told of one that was being created.
    if (*state == State::Creating || *state == State::Deleting) {
        const auto removed = co_await forget(desktop);
        if (!removed)
            log::error("desktop.recover",
                       {{"desktop", desktop->id().str()}, {"why", removed.error().message}});
        co_return;
    }
    co_await desktop->adopt();
}

// Machines and folders without a row.
Task<void> Service::end_orphans() {
    std::error_code error;
    std::vector<std::string> ids;
    for (const auto& root : {host_.config.run, host_.config.desktops()})
        for (const auto& entry : std::filesystem::directory_iterator{root, error})
            ids.push_back(entry.path().filename().string());
    for (const auto& name : ids) {
        const auto id = DesktopId::parse(name);
        // Only what has the form of a desktop's id: a bake has its own folder there.
        if (!id || name.rfind("d-", 0) != 0 || desktops_.count(*id)) continue;
        log::warn("desktop.orphan", {{"desktop", name}});
        auto machine =
            co_await vmm::Machine::adopt(host_.loop, name, host_.run_folder(name), std::chrono::seconds{5});
        if (machine) (void)co_await (*machine)->kill_now();
        for (const auto& folder : {host_.run_folder(name), host_.config.desktops() / name})
            if (const auto removed = remove_tree(folder); !removed)
                log::error("desktop.orphan", {{"desktop", name}, {"why", removed.error().message}});
    }
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// Telling those who listen what happens to what they see.
#include "hostd/base/log.h"
#include "hostd/desktop/service.h"

namespace dormouse::desktop {

namespace {

constexpr std::string_view kCounter = "events";
// More than any daemon will use; 2^53, beyond which a JSON number is not exact,
// allows for two million of its starts.
constexpr std::int64_t kIdsOfOneDaemon = std::int64_t{1} << 32;

}  // namespace

void Service::publish(EventType type, DesktopInfo info) {
    Event event{.type = type};
    event.desktop = std::move(info);
    events_.publish(std::move(event));
}

void Service::on_desktop(const Desktop& desktop, DesktopChange change) {
    switch (change) {
        case DesktopChange::State:
            return publish(EventType::DesktopState, desktop.info());
        case DesktopChange::Details:
            return publish(EventType::DesktopUpdated, desktop.info());
    }
}

bool Service::sees_event(const Caller& caller, const Event& event) const {
    if (event.operation) return sees_operation(caller, *event.operation);
    if (event.desktop)
        return sees(caller.limits, event.desktop->id.str(), event.desktop->name.str(), event.desktop->labels);
    return true;
}

Result<std::unique_ptr<EventWatch>> Service::watch_events(const Caller& caller,
                                                          std::optional<std::uint64_t> after,
                                                          EventSink sink) {
    if (!allows(caller.scope, caller.limits, CommandGroup::Look))
        return fail(Errc::Denied, "this token may not look",
                    "use a token that has the group 'look', or no limit of groups");
    auto filter = [this, caller](const Event& event) { return sees_event(caller, event); };
    return events_.watch(caller.token, after, std::move(filter), std::move(sink));
}

// Ids grow also where the database was put back from a backup: the clock has
// gone on meanwhile.
Task<Result<>> Service::recover_events() {
    const auto now = host_.loop.clock().wall().time_since_epoch();
    const auto least = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    auto reserving = on_store(
        [&stores = stores_, least] { return stores.counters.reserve(kCounter, least, kIdsOfOneDaemon); });
    DORMOUSE_CO_TRY_ASSIGN(const auto last, co_await std::move(reserving));
    events_.begin_at(static_cast<std::uint64_t>(last));
    co_return Result<>{};
}

}  // namespace dormouse::desktop

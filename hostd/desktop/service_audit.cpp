// SPDX-License-Identifier: Apache-2.0
// What is written down of every command, and reading it.
#include "hostd/base/log.h"
#include "hostd/desktop/cursor.h"
#include "hostd/desktop/service.h"

namespace dormouse::desktop {

namespace {

using namespace std::chrono_literals;

constexpr char kAuditCursor = 'a';
// Looks that are the same within this time are one row: a page polls once a second.
constexpr auto kSameLook = 60s;
constexpr auto kTidyInterval = 1h;
// Of one job on the store thread, which others wait for.
constexpr int kPrunedAtOnce = 2000;

std::string detail_of(const Command& command, const Result<Answer>& answer) {
    if (!answer) return answer.error().message;
    if (std::holds_alternative<BuildTemplate>(command)) {
        const auto* begun = std::get_if<OperationInfo>(&*answer);
        return begun && begun->image ? begun->image->str() : "";
    }
    if (const auto* removed = std::get_if<DeleteTemplate>(&command)) return removed->image.str();
    const auto* act = std::get_if<Act>(&command);
    if (!act) return {};
    // Which actions, but never what was typed.
    std::string names;
    for (const auto& action : act->actions) {
        if (names.size() > 200) return names + " ...";
        names += (names.empty() ? "" : " ") + std::string{action_name(action)};
    }
    return names;
}

AuditEntry to_entry(db::AuditRow row) {
    return {.number = row.number,
            .at = row.at,
            .token = std::move(row.token),
            .desktop = std::move(row.desktop),
            .command = std::move(row.command),
            .outcome = std::move(row.outcome),
            .detail = std::move(row.detail),
            .took = row.duration,
            .count = row.count,
            .last_at = row.last_at.value_or(row.at)};
}

}  // namespace

void Service::audit(const Command& command, const Caller& caller, const std::optional<DesktopId>& desktop,
                    const Result<Answer>& answer, Duration took) {
    std::string outcome = answer ? "ok" : std::string{errc_name(answer.error().code)};
    std::string detail = detail_of(command, answer);
    if (answer) {
        const auto* acted = std::get_if<ActAnswer>(&*answer);
        if (acted && acted->failure) {
            outcome = errc_name(acted->failure->code);
            detail += fmt::format(" (failed at {})", acted->done.size());
        }
    }
    db::AuditRow row{.at = host_.loop.clock().wall(),
                     .token = caller.token,
                     .desktop = desktop ? std::optional{desktop->str()} : std::nullopt,
                     .command = std::string{command_name(command)},
                     .outcome = std::move(outcome),
                     .detail = std::move(detail),
                     .duration = std::chrono::duration_cast<std::chrono::milliseconds>(took)};
    if (traits_of(command).group == CommandGroup::Look) return audit_look(std::move(row));
    append_audit(std::move(row), nullptr);
}

void Service::append_audit(db::AuditRow row, std::shared_ptr<Looks> looks) {
    store_thread_.post([&stores = stores_, row = std::move(row), looks = std::move(looks)] {
        const auto added = stores.audit.append(row);
        if (!added) {
            log::error("audit.lost", {{"command", row.command}, {"why", added.error().message}});
        } else if (looks) {
            looks->number = *added;
        }
    });
}

void Service::audit_look(db::AuditRow row) {
    const auto key = fmt::format("{} {} {} {} {}", row.token, row.desktop.value_or(""), row.command,
                                 row.outcome, row.detail);
    const auto now = host_.loop.clock().now();
    const auto known = looks_.find(key);
    if (known != looks_.end() && now - known->second->since < kSameLook) {
        ++known->second->more;
        known->second->last = row.at;
        return;
    }
    flush_looks(kSameLook);
    auto looks = std::make_shared<Looks>();
    looks->since = now;
    looks_.insert_or_assign(key, looks);
    append_audit(std::move(row), std::move(looks));
}

// Writes down how often the looks of at least that age came again.
void Service::flush_looks(Duration age) {
    const auto now = host_.loop.clock().now();
    for (auto one = looks_.begin(); one != looks_.end();) {
        if (now - one->second->since < age) {
            ++one;
            continue;
        }
        if (one->second->more > 0)
            store_thread_.post([&stores = stores_, looks = one->second] {
                const auto done = stores.audit.repeat(looks->number, looks->more, looks->last);
                if (!done) log::error("audit.lost", {{"why", done.error().message}});
            });
        one = looks_.erase(one);
    }
}

namespace {

// In parts, between which others have their turn.
void prune(db::StoreThread& thread, Stores& stores, WallTime oldest, std::int64_t most) {
    thread.post([&thread, &stores, oldest, most] {
        const auto gone = stores.audit.prune(oldest, most, kPrunedAtOnce);
        if (!gone) return log::error("audit.prune", {{"why", gone.error().message}});
        if (*gone == kPrunedAtOnce) prune(thread, stores, oldest, most);
    });
}

}  // namespace

// Now and once an hour.
void Service::tidy_up() {
    const auto now = host_.loop.clock().wall();
    prune(store_thread_, stores_, now - std::chrono::hours{24} * host_.config.audit.days,
          host_.config.audit.rows);
    store_thread_.post([&stores = stores_, now] {
        (void)stores.idempotency.remove_old(now - kOnceKept);
        (void)stores.operations.remove_old(now - kOperationsKept);
    });
    flush_looks(kSameLook);
    tidy_timer_ = host_.loop.after(kTidyInterval, [this] { tidy_up(); });
}

Task<Result<Answer>> Service::run(ListAudit request, Asked) {
    db::AuditFilter filter{.token = std::move(request.token),
                           .desktop = std::move(request.about),
                           .command = std::move(request.command),
                           .outcome = std::move(request.outcome),
                           .since = request.since,
                           .until = request.until,
                           .before = {}};
    if (filter.desktop) {
        if (const auto there = find(*filter.desktop)) filter.desktop = (*there)->id().str();
    }
    if (request.cursor) {
        DORMOUSE_CO_TRY_ASSIGN(const auto cursor, decode_cursor(kAuditCursor, *request.cursor));
        filter.before = cursor.number;
    }
    flush_looks(Duration::zero());
    // One more than asked for, to know whether there are more.
    auto reading = on_store(
        [&stores = stores_, filter, limit = request.limit] { return stores.audit.query(filter, limit + 1); });
    DORMOUSE_CO_TRY_ASSIGN(auto rows, co_await std::move(reading));
    AuditPage page;
    const bool more = rows.size() > static_cast<std::size_t>(request.limit);
    if (more) rows.pop_back();
    if (more) page.next_cursor = encode_cursor(kAuditCursor, {.number = rows.back().number, .name = {}});
    for (auto& row : rows) page.entries.push_back(to_entry(std::move(row)));
    co_return Answer{std::move(page)};
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// Watching and ending what outlives its request.
#include "hostd/base/log.h"
#include "hostd/desktop/service.h"

namespace dormouse::desktop {

namespace {

db::OperationRow to_row(const OperationInfo& info) {
    db::OperationRow row{.id = info.id.str(),
                         .kind = info.kind,
                         .token = info.token,
                         .desktop = {},
                         .image = {},
                         .state = std::string{operation_state_name(info.state)},
                         .step = info.step,
                         .error_code = {},
                         .error = {},
                         .hint = {},
                         .created_at = info.created_at,
                         .finished_at = info.finished_at};
    if (info.desktop) row.desktop = info.desktop->str();
    if (info.image) row.image = info.image->str();
    if (info.error) {
        row.error_code = std::string{errc_name(info.error->code)};
        row.error = info.error->message;
        row.hint = info.error->hint;
    }
    return row;
}

Result<OperationInfo> to_info(const db::OperationRow& row) {
    DORMOUSE_TRY_ASSIGN(auto id, OperationId::parse(row.id));
    OperationInfo info{.id = std::move(id)};
    info.kind = row.kind;
    info.token = row.token;
    if (row.desktop) {
        DORMOUSE_TRY_ASSIGN(info.desktop, DesktopId::parse(*row.desktop));
    }
    if (row.image) {
        DORMOUSE_TRY_ASSIGN(info.image, TemplateName::parse(*row.image));
    }
    DORMOUSE_TRY_ASSIGN(info.state, parse_operation_state(row.state));
    info.step = row.step;
    info.created_at = row.created_at;
    info.finished_at = row.finished_at;
    if (row.error)
        info.error = Error{errc_of_name(row.error_code.value_or("")).value_or(Errc::Internal), *row.error,
                           row.hint.value_or(""), 0};
    // What came of it is found under the names that it has; an object without
    // contents says that it did come.
    if (info.state == OperationState::Succeeded) info.result.emplace();
    return info;
}

tl::unexpected<Error> no_such(const OperationId& id) {
    return fail(Errc::NotFound, fmt::format("there is no operation '{}'", id.str()),
                "those that have ended are forgotten after an hour");
}

}  // namespace

// One's own, and those about desktops that one sees.
bool Service::sees_operation(const Caller& caller, const OperationInfo& info) const {
    if (caller.scope == Scope::Admin || info.token == caller.token) return true;
    if (!info.desktop) return false;
    if (!caller.limits.desktops_limited()) return true;
    const auto found = desktops_.find(*info.desktop);
    return found != desktops_.end() &&
           sees(caller.limits, info.desktop->str(), found->second->name().str(), found->second->labels());
}

// Its beginning and its end are remembered, and everybody is told of each step.
void Service::on_operation(const OperationInfo& info) {
    const bool new_here = known_operations_.insert(info.id).second;
    const bool ended = info.state != OperationState::Running;
    if (ended) known_operations_.erase(info.id);
    if (new_here || ended)
        store_thread_.post([&stores = stores_, row = to_row(info)] {
            if (const auto put = stores.operations.put(row); !put)
                log::error("operation.lost", {{"operation", row.id}, {"why", put.error().message}});
        });
    Event event{.type = EventType::OperationUpdated};
    event.operation = info;
    events_.publish(std::move(event));
}

Task<Result<>> Service::recover_operations() {
    auto reading = on_store([&stores = stores_] { return stores.operations.list(); });
    DORMOUSE_CO_TRY_ASSIGN(const auto rows, co_await std::move(reading));
    const auto oldest = host_.loop.clock().wall() - kOperationsKept;
    for (const auto& row : rows) {
        if (row.finished_at && *row.finished_at < oldest) continue;
        auto info = to_info(row);
        if (info) {
            operations_.restore(std::move(*info));
        } else {
            log::error("operation.recover", {{"operation", row.id}, {"why", info.error().message}});
        }
    }
    co_return Result<>{};
}

Result<OperationInfo> Service::visible_operation(const OperationId& id, const Caller& caller) {
    DORMOUSE_TRY_ASSIGN(auto info, operations_.find(id));
    if (!sees_operation(caller, info)) return no_such(id);
    return info;
}

Task<Result<Answer>> Service::run(ListOperations, Asked asked) {
    std::vector<OperationInfo> all;
    for (auto& info : operations_.list())
        if (sees_operation(asked.caller, info)) all.push_back(std::move(info));
    co_return Answer{std::move(all)};
}

Task<Result<Answer>> Service::run(GetOperation request, Asked asked) {
    DORMOUSE_CO_TRY(visible_operation(request.operation, asked.caller));
    auto waiting = operations_.wait(request.operation, request.wait, asked.cancel);
    DORMOUSE_CO_TRY_ASSIGN(auto info, co_await std::move(waiting));
    co_return Answer{std::move(info)};
}

Task<Result<Answer>> Service::run(CancelOperation request, Asked asked) {
    DORMOUSE_CO_TRY_ASSIGN(const auto info, visible_operation(request.operation, asked.caller));
    if (asked.caller.scope != Scope::Admin && info.token != asked.caller.token)
        co_return fail(Errc::Denied, "an operation is cancelled by the token that began it",
                       "use that token, or one of scope 'admin'");
    DORMOUSE_CO_TRY_ASSIGN(auto cancelled, operations_.cancel(request.operation));
    co_return Answer{std::move(cancelled)};
}

Task<Result<Answer>> Service::run(GetOperationLog request, Asked asked) {
    DORMOUSE_CO_TRY(visible_operation(request.operation, asked.caller));
    DORMOUSE_CO_TRY_ASSIGN(auto log, operations_.log(request.operation, request.offset));
    co_return Answer{std::move(log)};
}

}  // namespace dormouse::desktop

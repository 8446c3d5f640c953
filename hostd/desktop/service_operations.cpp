// SPDX-License-Identifier: Apache-2.0
// Watching and ending what outlives its request.
#include "hostd/desktop/service.h"

namespace dormouse::desktop {

namespace {

bool sees(const Caller& caller, const OperationInfo& info) {
    return caller.scope == Scope::Admin || info.token == caller.token || info.desktop;
}

tl::unexpected<Error> no_such(const OperationId& id) {
    return fail(Errc::NotFound, fmt::format("there is no operation '{}'", id.str()),
                "those that have ended are forgotten after an hour");
}

}  // namespace

Result<OperationInfo> Service::visible_operation(const OperationId& id, const Caller& caller) {
    DORMOUSE_TRY_ASSIGN(auto info, operations_.find(id));
    if (!sees(caller, info)) return no_such(id);
    return info;
}

Task<Result<Answer>> Service::run(ListOperations, Asked asked) {
    std::vector<OperationInfo> all;
    for (auto& info : operations_.list())
        if (sees(asked.caller, info)) all.push_back(std::move(info));
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

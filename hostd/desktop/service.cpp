// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/service.h"

#include "hostd/base/log.h"

namespace dormouse::desktop {

namespace {

// The reference of a command that is about one desktop.
const DesktopReference* reference_of(const Command& command) {
    return std::visit(
        [](const auto& one) -> const DesktopReference* {
            if constexpr (requires(const DesktopReference*& found) { found = &one.desktop; })
                return &one.desktop;
            else
                return nullptr;
        },
        command);
}

Error not_allowed(const Command& command, const Caller& caller) {
    const auto& traits = traits_of(command);
    if (!caller.limits.groups.empty() && traits.group != CommandGroup::Admin)
        return {Errc::Denied,
                fmt::format("this token may not do {}: it is limited to some groups of commands, and '{}' is "
                            "not one of them",
                            traits.name, group_name(traits.group)),
                "use another token", 0};
    const bool for_agents = allows(Scope::Agent, {}, traits.group);
    return {Errc::Denied,
            fmt::format("a token of scope '{}' may not do {}", scope_name(caller.scope), traits.name),
            for_agents ? "use a token of scope 'agent' or 'admin'" : "use a token of scope 'admin'", 0};
}

Error not_legal(const Command& command, const Desktop& desktop) {
    Error error{Errc::Conflict,
                fmt::format("desktop '{}' is {}: {} is not possible now", desktop.name().str(),
                            state_name(desktop.state()), command_name(command)),
                {},
                0};
    if (std::holds_alternative<StopDesktop>(command)) {
        error.hint = "to get rid of it, delete it";
        return error;
    }
    switch (desktop.state()) {
        case State::Stopped:
        case State::Failed:
            error.hint = fmt::format("start it: ./dormouse start {}", desktop.name().str());
            break;
        case State::Creating:
        case State::Starting:
        case State::Stopping:
            error.hint = "wait until it is running or stopped, then try again";
            break;
        case State::Running:
        case State::Deleting:
            break;
    }
    return error;
}

tl::unexpected<Error> no_such_desktop(const DesktopReference& reference) {
    return fail(Errc::NotFound, fmt::format("there is no desktop '{}'", reference), "see: ./dormouse list");
}

}  // namespace

Result<Stores> open_stores(db::Database& database) {
    DORMOUSE_TRY_ASSIGN(auto desktops, db::DesktopStore::open(database));
    DORMOUSE_TRY_ASSIGN(auto tokens, db::TokenStore::open(database));
    DORMOUSE_TRY_ASSIGN(auto audit, db::AuditStore::open(database));
    DORMOUSE_TRY_ASSIGN(auto destinations, db::DestinationStore::open(database));
    DORMOUSE_TRY_ASSIGN(auto operations, db::OperationStore::open(database));
    DORMOUSE_TRY_ASSIGN(auto idempotency, db::IdempotencyStore::open(database));
    DORMOUSE_TRY_ASSIGN(auto counters, db::CounterStore::open(database));
    return Stores{std::move(desktops),   std::move(tokens),      std::move(audit),   std::move(destinations),
                  std::move(operations), std::move(idempotency), std::move(counters)};
}

Service::Service(Host& host, Stores& stores, db::StoreThread& store_thread, std::string version)
    : host_(host),
      stores_(stores),
      store_thread_(store_thread),
      templates_(host.config.templates),
      version_(std::move(version)),
      operations_(host.loop),
      events_(host.loop.clock()) {
    operations_.set_listener([this](const OperationInfo& info) { on_operation(info); });
}

Service::~Service() {
    close();
}

VersionInfo Service::version() const {
    return {version_, fmt::format("{}.{}.{}", host_.qemu.major, host_.qemu.minor, host_.qemu.micro),
            vmm::accelerator_name(host_.accelerator.accelerator), host_.accelerator.reason};
}

Task<void> Service::end_operations() {
    co_await operations_.end_all();
}

void Service::close() {
    flush_looks(Duration::zero());
    if (tidy_timer_) host_.loop.cancel_timer(*tidy_timer_);
    tidy_timer_.reset();
    for (auto& [id, desktop] : desktops_) desktop->close();
    desktops_.clear();
}

Task<Result<Answer>> Service::execute(Command command, Caller caller, Cancel cancel) {
    const auto began = host_.loop.clock().now();
    std::optional<DesktopId> about;
    if (const auto* reference = reference_of(command)) {
        if (const auto desktop = find(*reference)) about = (*desktop)->id();
    }
    Result<Answer> answer;
    if (allowed(command, caller.scope, caller.limits)) {
        auto carrying = carry_out(command, Asked{caller, cancel, nullptr});
        answer = co_await std::move(carrying);
    } else {
        answer = fail(not_allowed(command, caller));
    }
    if (answer && !about) {
        if (const auto* made = std::get_if<DesktopInfo>(&*answer)) about = made->id;
        if (const auto* begun = std::get_if<OperationInfo>(&*answer)) about = begun->desktop;
    }
    audit(command, caller, about, answer, host_.loop.clock().now() - began);
    co_return answer;
}

Service::Found Service::find(const DesktopReference& reference) const {
    for (const auto& [id, desktop] : desktops_)
        if (id.str() == reference || desktop->name().str() == reference) return desktop;
    if (!is_identifier(reference)) return bad_identifier("desktop's name or id", reference);
    return no_such_desktop(reference);
}

// What the caller does not see is not there.
Service::Found Service::find_for(const DesktopReference& reference, const Caller& caller) const {
    DORMOUSE_TRY_ASSIGN(auto desktop, find(reference));
    if (!sees(caller.limits, desktop->id().str(), desktop->name().str(), desktop->labels()))
        return no_such_desktop(reference);
    return desktop;
}

Task<Result<Answer>> Service::carry_out(Command command, Asked asked) {
    if (const auto* reference = reference_of(command)) {
        DORMOUSE_CO_TRY_ASSIGN(asked.desktop, find_for(*reference, asked.caller));
        if (!legal(command, asked.desktop->state())) co_return fail(not_legal(command, *asked.desktop));
    }
    auto running = std::visit([&](auto& one) { return run(std::move(one), std::move(asked)); }, command);
    co_return co_await std::move(running);
}

}  // namespace dormouse::desktop

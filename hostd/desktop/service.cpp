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

Error not_legal(const Command& command, const Desktop& desktop) {
    Error error{Errc::Conflict,
                fmt::format("desktop '{}' is {}: {} is not possible now", desktop.name().str(),
                            state_name(desktop.state()), command_name(command)),
                {},
                0};
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

std::string detail_of(const Command& command, const Result<Answer>& answer) {
    if (!answer) return answer.error().message;
    if (const auto* build = std::get_if<BuildTemplate>(&command))
        if (const auto* begun = std::get_if<OperationInfo>(&*answer); begun && begun->image && build)
            return begun->image->str();
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

}  // namespace

Result<Stores> open_stores(db::Database& database) {
    DORMOUSE_TRY_ASSIGN(auto desktops, db::DesktopStore::open(database));
    DORMOUSE_TRY_ASSIGN(auto tokens, db::TokenStore::open(database));
    DORMOUSE_TRY_ASSIGN(auto audit, db::AuditStore::open(database));
    DORMOUSE_TRY_ASSIGN(auto destinations, db::DestinationStore::open(database));
    return Stores{std::move(desktops), std::move(tokens), std::move(audit), std::move(destinations)};
}

Service::Service(Host& host, Stores& stores, db::StoreThread& store_thread, std::string version)
    : host_(host),
      stores_(stores),
      store_thread_(store_thread),
      templates_(host.config.templates),
      version_(std::move(version)),
      operations_(host.loop) {}

VersionInfo Service::version() const {
    return {version_, fmt::format("{}.{}.{}", host_.qemu.major, host_.qemu.minor, host_.qemu.micro),
            vmm::accelerator_name(host_.accelerator.accelerator), host_.accelerator.reason};
}

Task<void> Service::end_operations() {
    co_await operations_.end_all();
}

void Service::close() {
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
    if (allowed(command, caller.scope)) {
        auto carrying = carry_out(command, Asked{caller, cancel, nullptr});
        answer = co_await std::move(carrying);
    } else {
        answer = fail(Errc::Denied,
                      fmt::format("a token of scope '{}' may not do {}", scope_name(caller.scope),
                                  command_name(command)),
                      "use a token of scope 'admin'");
    }
    if (answer && !about) {
        if (const auto* made = std::get_if<DesktopInfo>(&*answer)) about = made->id;
    }
    audit(command, caller, about, answer, host_.loop.clock().now() - began);
    co_return answer;
}

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
    store_thread_.post([&stores = stores_, row = std::move(row)] {
        if (const auto added = stores.audit.append(row); !added)
            log::error("audit.lost", {{"command", row.command}, {"why", added.error().message}});
    });
}

Service::Found Service::find(const DesktopReference& reference) const {
    for (const auto& [id, desktop] : desktops_)
        if (id.str() == reference || desktop->name().str() == reference) return desktop;
    if (!is_identifier(reference)) return bad_identifier("desktop's name or id", reference);
    return fail(Errc::NotFound, fmt::format("there is no desktop '{}'", reference), "see: ./dormouse list");
}

Task<Result<Answer>> Service::carry_out(Command command, Asked asked) {
    if (const auto* reference = reference_of(command)) {
        DORMOUSE_CO_TRY_ASSIGN(asked.desktop, find(*reference));
        if (!legal(command, asked.desktop->state())) co_return fail(not_legal(command, *asked.desktop));
    }
    auto running = std::visit([&](auto& one) { return run(std::move(one), std::move(asked)); }, command);
    co_return co_await std::move(running);
}

}  // namespace dormouse::desktop

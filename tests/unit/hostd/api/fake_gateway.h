// SPDX-License-Identifier: Apache-2.0
// A domain for the adapters: knows two tokens and one desktop, remembers what
// it was asked, and answers as the test says.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hostd/desktop/gateway.h"

namespace dormouse::api {

inline constexpr const char* kAdminToken = "dm_admin";
inline constexpr const char* kAgentToken = "dm_agent";

inline desktop::DesktopInfo example_desktop(desktop::State state = desktop::State::Running) {
    using namespace std::chrono_literals;
    return {.id = DesktopId::parse("d-1a2b3c4d5e").value(),
            .name = DesktopName::parse("shop").value(),
            .image = TemplateName::parse("desktop").value(),
            .state = state,
            .reason = {},
            .ready = state == desktop::State::Running,
            .created_at = WallTime{1'796'043'194s},
            .started_at = WallTime{1'796'043'195s},
            .screen_width = 1280,
            .screen_height = 800,
            .memory_mib = 2048,
            .cpus = 2,
            .accelerator = "tcg",
            .exit = {}};
}

inline desktop::Picture example_picture(std::string png = "\x89PNG-one", std::uint64_t generation = 7) {
    return {.bytes = std::make_shared<const std::string>(std::move(png)),
            .width = 1280,
            .height = 800,
            .generation = generation};
}

inline desktop::DestinationInfo example_destination() {
    using namespace std::chrono_literals;
    return {.name = "example.org",
            .address = "203.0.113.80",
            .port = 443,
            .protocol = "tcp",
            .verdict = "allowed",
            .reason = {},
            .first_at = WallTime{1'796'043'194s},
            .last_at = WallTime{1'796'043'195s},
            .connections = 2,
            .bytes_sent = 100,
            .bytes_received = 2000};
}

inline desktop::TokenInfo example_token() {
    using namespace std::chrono_literals;
    return {.id = TokenId::parse("t-1").value(),
            .name = "laptop",
            .scope = desktop::Scope::Agent,
            .created_at = WallTime{1'796'043'194s},
            .last_used_at = {}};
}

inline desktop::OperationInfo example_operation() {
    using namespace std::chrono_literals;
    desktop::OperationInfo info{.id = OperationId::parse("op-1").value()};
    info.kind = "desktop.create";
    info.token = "t-admin";
    info.desktop = example_desktop().id;
    info.step = "waking the desktop";
    info.progress = 0.5;
    info.created_at = WallTime{1'796'043'194s};
    return info;
}

inline desktop::TemplateInfo example_template() {
    desktop::TemplateInfo info{.name = TemplateName::parse("office").value()};
    info.hash = "0123456789abcdef";
    info.parent = "desktop";
    info.screen_width = 1024;
    info.screen_height = 768;
    info.memory_mib = 1024;
    info.stale = "changed since: the recipe";
    info.recipe = "name = \"office\"\n";
    return info;
}

class FakeGateway : public desktop::Gateway {
  public:
    using Handler = std::function<Task<Result<desktop::Answer>>(desktop::Command, Cancel)>;

    Task<Result<desktop::Caller>> authenticate(std::string bearer) override {
        if (authentication_error) co_return fail(*authentication_error);
        if (bearer == kAdminToken)
            co_return desktop::Caller{.token = "t-admin", .scope = desktop::Scope::Admin};
        if (bearer == kAgentToken)
            co_return desktop::Caller{.token = "t-agent", .scope = desktop::Scope::Agent};
        co_return fail(Errc::Unauthenticated, "no row in the table of tokens");
    }

    Task<Result<desktop::Answer>> execute(desktop::Command command, desktop::Caller caller,
                                          Cancel cancel) override {
        {
            const std::lock_guard lock{mutex_};
            commands_.push_back(command);
            callers_.push_back(caller);
        }
        if (handler) co_return co_await handler(std::move(command), std::move(cancel));
        if (!desktop::allowed(command, caller.scope))
            co_return fail(Errc::Denied, "this needs a token of scope admin");
        co_return std::visit([](const auto& asked) { return answer_to(asked); }, command);
    }

    Task<Result<desktop::Claim>> claim(desktop::Caller caller, desktop::OnceKey once, Cancel) override {
        const auto [known, added] = kept_.try_emplace({caller.token, once.key}, once.request, std::nullopt);
        if (added) co_return desktop::Claim{desktop::CarryOut{}};
        if (known->second.first != once.request) co_return fail(Errc::Conflict, "used for another request");
        co_return desktop::Claim{desktop::Replay{known->second.second.value_or("")}};
    }
    void settle(const desktop::Caller& caller, const desktop::OnceKey& once,
                std::optional<std::string> answer) override {
        if (answer) {
            kept_.at({caller.token, once.key}).second = std::move(answer);
        } else {
            kept_.erase({caller.token, once.key});
        }
    }
    Result<std::unique_ptr<desktop::EventWatch>> watch_events(const desktop::Caller& caller,
                                                              std::optional<std::uint64_t> after,
                                                              desktop::EventSink sink) override {
        if (caller.token == "t-blind") return fail(Errc::Denied, "this token may not look");
        return events.watch(
            caller.token, after, [](const desktop::Event&) { return true; }, std::move(sink));
    }

    desktop::VersionInfo version() const override { return {"0.1.0", "7.2.19", "tcg", "no vmx"}; }

    // Any thread, as the tests ask from theirs.
    std::vector<desktop::Command> commands() const {
        const std::lock_guard lock{mutex_};
        return commands_;
    }
    std::vector<desktop::Caller> callers() const {
        const std::lock_guard lock{mutex_};
        return callers_;
    }

    // On the core thread only.
    SystemClock clock;
    desktop::EventLog events{clock};

    // Set before the request that they are for.
    Handler handler;
    std::optional<Error> authentication_error;

  private:
    using Outcome = Result<desktop::Answer>;
    static Outcome find(const std::string& reference, desktop::State state) {
        if (reference != "shop" && reference != "d-1a2b3c4d5e")
            return fail(Errc::NotFound, fmt::format("there is no desktop '{}'", reference));
        return desktop::Answer{example_desktop(state)};
    }
    static Outcome answer_to(const desktop::CreateDesktop& c) {
        if (c.async) return desktop::Answer{example_operation()};
        return desktop::Answer{example_desktop()};
    }
    static Outcome answer_to(const desktop::ListOperations&) {
        return desktop::Answer{std::vector{example_operation()}};
    }
    static Outcome find_operation(const OperationId& id) {
        if (id.str() != "op-1")
            return fail(Errc::NotFound, fmt::format("there is no operation '{}'", id.str()));
        return desktop::Answer{example_operation()};
    }
    static Outcome answer_to(const desktop::GetOperation& c) { return find_operation(c.operation); }
    static Outcome answer_to(const desktop::CancelOperation& c) { return find_operation(c.operation); }
    static Outcome answer_to(const desktop::GetOperationLog& c) {
        DORMOUSE_TRY(find_operation(c.operation));
        return desktop::Answer{desktop::OperationLog{"one\n", c.offset, c.offset + 4, false}};
    }
    static Outcome answer_to(const desktop::ListTemplates&) {
        return desktop::Answer{std::vector{example_template()}};
    }
    static Outcome find_template(const TemplateName& name) {
        if (name != example_template().name)
            return fail(Errc::NotFound, fmt::format("there is no template '{}'", name.str()));
        return desktop::Answer{example_template()};
    }
    static Outcome answer_to(const desktop::GetTemplate& c) { return find_template(c.image); }
    static Outcome answer_to(const desktop::DeleteTemplate& c) {
        DORMOUSE_TRY(find_template(c.image));
        return desktop::Answer{desktop::Done{}};
    }
    static Outcome answer_to(const desktop::BuildTemplate&) { return desktop::Answer{example_operation()}; }
    static Outcome answer_to(const desktop::GetTemplateLog& c) {
        DORMOUSE_TRY(find_template(c.image));
        return desktop::Answer{desktop::OperationLog{"one\n", c.offset, c.offset + 4, true}};
    }
    static Outcome answer_to(const desktop::ListDesktops&) {
        return desktop::Answer{
            desktop::DesktopPage{{example_desktop(), example_desktop(desktop::State::Stopped)}, "next"}};
    }
    static Outcome answer_to(const desktop::GetDesktop& c) {
        return find(c.desktop, desktop::State::Running);
    }
    static Outcome answer_to(const desktop::StartDesktop& c) {
        return find(c.desktop, desktop::State::Starting);
    }
    static Outcome answer_to(const desktop::StopDesktop& c) {
        return find(c.desktop, desktop::State::Stopping);
    }
    static Outcome answer_to(const desktop::RestartDesktop& c) {
        return find(c.desktop, desktop::State::Stopping);
    }
    static Outcome answer_to(const desktop::DeleteDesktop& c) {
        DORMOUSE_TRY(find(c.desktop, desktop::State::Deleting));
        return desktop::Answer{desktop::Done{}};
    }
    static Outcome answer_to(const desktop::UpdateDesktop& c) {
        DORMOUSE_TRY(find(c.desktop, desktop::State::Running));
        auto info = example_desktop();
        if (c.name) info.name = *c.name;
        if (c.network) info.network = *c.network;
        for (const auto& [key, value] : c.labels)
            if (value) info.labels.emplace(key, *value);
        return desktop::Answer{std::move(info)};
    }
    static Outcome answer_to(const desktop::ListDestinations& c) {
        DORMOUSE_TRY(find(c.desktop, desktop::State::Running));
        return desktop::Answer{std::vector{example_destination()}};
    }
    static Outcome answer_to(const desktop::TakeScreenshot& c) {
        DORMOUSE_TRY(find(c.desktop, desktop::State::Running));
        return desktop::Answer{example_picture()};
    }
    static Outcome answer_to(const desktop::RunProgram& c) {
        DORMOUSE_TRY(find(c.desktop, desktop::State::Running));
        return desktop::Answer{desktop::ProgramResult{.exit_code = 0}};
    }
    static Outcome answer_to(const desktop::Act& c) {
        DORMOUSE_TRY(find(c.desktop, desktop::State::Running));
        desktop::ActAnswer answer;
        for (const auto& action : c.actions) {
            answer.done.push_back(
                {std::string{desktop::action_name(action)}, std::chrono::milliseconds{5}, {}});
            if (std::holds_alternative<desktop::ScreenshotAction>(action))
                answer.done.back().picture = example_picture();
        }
        return desktop::Answer{std::move(answer)};
    }
    static Outcome answer_to(const desktop::CreateToken&) {
        return desktop::Answer{desktop::NewToken{example_token(), "dm_new"}};
    }
    static Outcome answer_to(const desktop::ListTokens&) {
        return desktop::Answer{std::vector{example_token()}};
    }
    static Outcome answer_to(const desktop::DeleteToken&) { return desktop::Answer{desktop::Done{}}; }
    static Outcome answer_to(const desktop::ListAudit& c) {
        desktop::AuditPage page;
        page.entries.push_back({.number = 7, .command = "desktop.get", .outcome = c.outcome.value_or("ok")});
        page.next_cursor = "older";
        return desktop::Answer{std::move(page)};
    }

    // By token and key: what was asked for, and what was answered.
    std::map<std::pair<std::string, std::string>, std::pair<std::string, std::optional<std::string>>> kept_;
    mutable std::mutex mutex_;
    std::vector<desktop::Command> commands_;
    std::vector<desktop::Caller> callers_;
};

}  // namespace dormouse::api

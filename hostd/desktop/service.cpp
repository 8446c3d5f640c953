// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/service.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/base/random.h"
#include "hostd/desktop/names.h"
#include "hostd/desktop/tokens.h"

namespace dormouse::desktop {

namespace {

// For callers that name none.
constexpr int kNameTries = 20;
constexpr std::size_t kLongestTokenName = 100;

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};

// The reference of a command that is about one desktop.
const DesktopReference* reference_of(const Command& command) {
    return std::visit(
        [](const auto& one) -> const DesktopReference* {
            if constexpr (requires { one.desktop; })
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
            error.hint = fmt::format("start it: dormouse start {}", desktop.name().str());
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
      version_(std::move(version)) {}

VersionInfo Service::version() const {
    return {version_, fmt::format("{}.{}.{}", host_.qemu.major, host_.qemu.minor, host_.qemu.micro),
            vmm::accelerator_name(host_.accelerator.accelerator), host_.accelerator.reason};
}

void Service::close() {
    for (auto& [id, desktop] : desktops_) desktop->close();
    desktops_.clear();
}

Task<Result<Caller>> Service::authenticate(std::string bearer) {
    auto hash = hash_token_secret(bearer);
    const auto now = host_.loop.clock().wall();
    auto lookup =
        on_store([&stores = stores_, hash = std::move(hash), now]() -> Result<std::optional<db::TokenRow>> {
            auto row = stores.tokens.find_by_hash(hash);
            if (row && *row) {
                if (const auto touched = stores.tokens.touch((*row)->id, now); !touched)
                    log::warn("token.touch", {{"why", touched.error().message}});
            }
            return row;
        });
    auto found = co_await std::move(lookup);
    if (!found) co_return fail(found.error());
    if (!*found) co_return fail(Errc::Unauthenticated, "this token is not known");
    DORMOUSE_CO_TRY_ASSIGN(const auto scope, parse_scope((*found)->scope));
    co_return Caller{(*found)->id.str(), scope};
}

Task<Result<Answer>> Service::execute(Command command, Caller caller, Cancel cancel) {
    const auto began = host_.loop.clock().now();
    std::optional<DesktopId> about;
    if (const auto* reference = reference_of(command)) {
        if (const auto desktop = find(*reference)) about = (*desktop)->id();
    }
    Result<Answer> answer;
    if (allowed(command, caller.scope)) {
        answer = co_await carry_out(command, cancel);
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
    return fail(Errc::NotFound, fmt::format("there is no desktop '{}'", reference), "see: dormouse list");
}

Task<Result<Answer>> Service::carry_out(Command command, Cancel cancel) {
    std::shared_ptr<Desktop> desktop;
    if (const auto* reference = reference_of(command)) {
        DORMOUSE_CO_TRY_ASSIGN(desktop, find(*reference));
        if (!legal(command, desktop->state())) co_return fail(not_legal(command, *desktop));
    }
    if (auto* one = std::get_if<CreateDesktop>(&command)) co_return co_await create(std::move(*one));
    if (std::holds_alternative<ListDesktops>(command)) {
        std::vector<DesktopInfo> all;
        for (const auto& [id, each] : desktops_) all.push_back(each->info());
        std::sort(all.begin(), all.end(),
                  [](const auto& a, const auto& b) { return a.created_at < b.created_at; });
        co_return Answer{std::move(all)};
    }
    if (std::holds_alternative<GetDesktop>(command)) co_return Answer{desktop->info()};
    if (std::holds_alternative<DeleteDesktop>(command)) co_return co_await remove(desktop);
    if (std::holds_alternative<ListDestinations>(command)) co_return co_await list_destinations(desktop);
    if (auto* one = std::get_if<TakeScreenshot>(&command)) {
        DORMOUSE_CO_TRY_ASSIGN(auto picture, co_await desktop->screenshot(one->picture));
        co_return Answer{std::move(picture)};
    }
    if (auto* one = std::get_if<Act>(&command))
        co_return Answer{co_await desktop->act(std::move(one->actions), std::move(one->options), cancel)};
    if (auto* one = std::get_if<RunProgram>(&command)) {
        DORMOUSE_CO_TRY_ASSIGN(auto result, co_await desktop->run_program(std::move(*one)));
        co_return Answer{std::move(result)};
    }
    if (auto* one = std::get_if<CreateToken>(&command)) co_return co_await create_token(std::move(*one));
    if (std::holds_alternative<ListTokens>(command)) co_return co_await list_tokens();
    if (auto* one = std::get_if<DeleteToken>(&command)) co_return co_await remove_token(std::move(*one));

    Result<> done;
    if (std::holds_alternative<StartDesktop>(command))
        done = co_await desktop->start();
    else if (std::holds_alternative<StopDesktop>(command))
        done = co_await desktop->stop();
    else if (std::holds_alternative<RestartDesktop>(command))
        done = co_await desktop->restart();
    else if (const auto* one = std::get_if<SetNetwork>(&command))
        done = co_await desktop->set_network(one->mode);
    if (!done) co_return fail(done.error());
    co_return Answer{desktop->info()};
}

// ---- desktops

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

Task<Result<Answer>> Service::create(CreateDesktop request) {
    DORMOUSE_CO_TRY_ASSIGN(auto image, templates_.newest(request.image));
    DORMOUSE_CO_TRY_ASSIGN(auto row, co_await insert_row(std::move(request), image));
    const auto desktop = add(std::move(image), std::move(row), State::Creating);
    const auto created = co_await desktop->create();
    if (created) co_return Answer{desktop->info()};
    log::error("desktop.create", {{"desktop", desktop->id().str()}, {"why", created.error().message}});
    if (const auto removed = co_await forget(desktop); !removed)
        log::error("desktop.leftover", {{"desktop", desktop->id().str()}, {"why", removed.error().message}});
    co_return fail(created.error());
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

Task<Result<Answer>> Service::remove(std::shared_ptr<Desktop> desktop) {
    DORMOUSE_CO_TRY(co_await forget(desktop));
    co_return Answer{Done{}};
}

// ---- tokens

namespace {

Result<TokenInfo> to_info(const db::TokenRow& row) {
    DORMOUSE_TRY_ASSIGN(const auto scope, parse_scope(row.scope));
    return TokenInfo{row.id, row.name, scope, row.created_at, row.last_used_at};
}

}  // namespace

Task<Result<Answer>> Service::create_token(CreateToken request) {
    if (request.name.empty() || request.name.size() > kLongestTokenName)
        co_return fail(Errc::InvalidArgument,
                       fmt::format("a token's name has 1 to {} characters", kLongestTokenName));
    const auto secret = make_token_secret();
    const auto row = make_token_row(request.name, request.scope, secret, host_.loop.clock().wall());
    auto insert = on_store([&stores = stores_, row] { return stores.tokens.insert(row); });
    DORMOUSE_CO_TRY(co_await std::move(insert));
    DORMOUSE_CO_TRY_ASSIGN(auto info, to_info(row));
    co_return Answer{NewToken{std::move(info), secret.reveal_for_transport()}};
}

Task<Result<Answer>> Service::list_tokens() {
    auto reading = on_store([&stores = stores_] { return stores.tokens.list(); });
    DORMOUSE_CO_TRY_ASSIGN(const auto rows, co_await std::move(reading));
    std::vector<TokenInfo> all;
    for (const auto& row : rows) {
        DORMOUSE_CO_TRY_ASSIGN(auto info, to_info(row));
        all.push_back(std::move(info));
    }
    co_return Answer{std::move(all)};
}

Task<Result<Answer>> Service::remove_token(DeleteToken request) {
    auto removal = on_store([&stores = stores_, id = request.token] { return stores.tokens.remove(id); });
    DORMOUSE_CO_TRY(co_await std::move(removal));
    co_return Answer{Done{}};
}

// ---- after a restart

Task<Result<>> Service::recover() {
    auto reading = on_store([&stores = stores_] { return stores.desktops.list(); });
    DORMOUSE_CO_TRY_ASSIGN(auto rows, co_await std::move(reading));
    for (auto& row : rows) co_await recover_row(std::move(row));
    co_await end_orphans();
    if (templates_.root() == host_.config.home / "templates") {
        std::set<std::string> used;
        for (const auto& [id, desktop] : desktops_) used.insert(desktop->template_hash());
        for (const auto& folder : templates_.collect_garbage(used))
            log::info("template.removed", {{"path", folder.string()}});
    }
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

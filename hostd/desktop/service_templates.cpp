// SPDX-License-Identifier: Apache-2.0
// Templates: what there is, making one's own, taking them away.
#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/base/utf8.h"
#include "hostd/desktop/service.h"
#include "hostd/desktop/template_bake.h"
#include "hostd/desktop/template_report.h"

namespace dormouse::desktop {

namespace {

constexpr std::size_t kMostLogAtOnce = 256 << 10;
constexpr std::size_t kMostLog = 64 << 20;

bool shows_recipes(const Caller& caller) {
    return allows(caller.scope, caller.limits, CommandGroup::Templates);
}

Result<OperationLog> part_of_log(const Template& image, std::uint64_t offset) {
    auto text = read_file(image.bake_log(), kMostLog);
    if (!text && text.error().os_error == ENOENT)
        return fail(Errc::NotFound, fmt::format("template '{}' has no log: it was baked by an early version",
                                                image.name.str()));
    if (!text) return fail(text.error());
    const auto begin = std::min<std::uint64_t>(offset, text->size());
    auto part = std::string_view{*text}.substr(begin, kMostLogAtOnce);
    const bool is_last = begin + part.size() == text->size();
    if (!is_last) part = whole_characters(part);
    return OperationLog{
        .text = std::string{part}, .offset = begin, .next_offset = begin + part.size(), .finished = is_last};
}

}  // namespace

std::vector<std::string> Service::desktops_on(const TemplateName& name, const std::string& hash) const {
    std::vector<std::string> names;
    for (const auto& [id, desktop] : desktops_)
        if (desktop->template_name() == name && desktop->template_hash() == hash)
            names.push_back(desktop->name().str());
    return names;
}

std::set<std::string> Service::used_templates() const {
    std::set<std::string> used{pinned_templates_.begin(), pinned_templates_.end()};
    for (const auto& [id, desktop] : desktops_) used.insert(desktop->template_hash());
    return used;
}

void Service::collect_templates() {
    // Elsewhere they may be another daemon's too.
    if (templates_.root() != host_.config.home / "templates") return;
    for (const auto& folder : templates_.collect_garbage(used_templates()))
        log::info("template.removed", {{"path", folder.string()}});
}

Task<Result<Answer>> Service::run(ListTemplates, Asked) {
    auto looking = run_on(host_.pool, host_.loop, [&host = host_, store = templates_] {
        std::vector<TemplateInfo> all;
        for (const auto& image : store.list()) all.push_back(report_on(host, image));
        return all;
    });
    auto all = co_await std::move(looking);
    for (auto& info : all) info.desktops = static_cast<int>(desktops_on(info.name, info.hash).size());
    co_return Answer{std::move(all)};
}

Task<Result<Answer>> Service::run(GetTemplate request, Asked asked) {
    DORMOUSE_CO_TRY_ASSIGN(const auto image, templates_.newest(request.image));
    auto looking =
        run_on(host_.pool, host_.loop, [&host = host_, image, with_recipe = shows_recipes(asked.caller)] {
            auto info = report_on(host, image);
            if (auto recipe = read_file(image.recipe_file(), kMostRecipeBytes); recipe && with_recipe)
                info.recipe = std::move(*recipe);
            return info;
        });
    auto info = co_await std::move(looking);
    info.desktops = static_cast<int>(desktops_on(info.name, info.hash).size());
    co_return Answer{std::move(info)};
}

Task<Result<Answer>> Service::run(GetTemplateLog request, Asked) {
    DORMOUSE_CO_TRY_ASSIGN(const auto image, templates_.newest(request.image));
    auto reading = run_on(host_.pool, host_.loop,
                          [image, offset = request.offset] { return part_of_log(image, offset); });
    DORMOUSE_CO_TRY_ASSIGN(auto log, co_await std::move(reading));
    co_return Answer{std::move(log)};
}

Result<> Service::no_build_in_progress() {
    for (const auto& info : operations_.list())
        if (info.kind == BuildTemplate::traits.name && info.state == OperationState::Running)
            return fail(Errc::Conflict,
                        fmt::format("template '{}' is being built, and builds go one after the other",
                                    info.image ? info.image->str() : "?"),
                        fmt::format("wait for operation {} to end, or cancel it", info.id.str()));
    return {};
}

Task<Result<Answer>> Service::run(BuildTemplate request, Asked asked) {
    if (host_.data_folder.empty())
        co_return fail(Errc::Unavailable, "this daemon does not find the files that templates are made from",
                       "run it from its checkout: ./dormouse up");
    auto around = surroundings_in(host_.data_folder);
    around.name = request.name;
    DORMOUSE_CO_TRY_ASSIGN(auto recipe, parse_recipe(request.recipe, around));
    if (is_built_in(host_, recipe.name))
        co_return fail(Errc::InvalidArgument,
                       fmt::format("'{}' is the name of a built-in template", recipe.name.str()),
                       "give yours another name");
    DORMOUSE_CO_TRY(no_build_in_progress());
    DORMOUSE_CO_TRY_ASSIGN(auto operation, operations_.begin({.kind = std::string{BuildTemplate::traits.name},
                                                              .token = asked.caller.token,
                                                              .desktop = {},
                                                              .image = recipe.name}));
    spawn(build_as(operation, std::move(recipe), std::move(request.recipe)));
    co_return Answer{operation.info()};
}

Task<void> Service::build_as(OperationHandle operation, Recipe recipe, std::string text) {
    BakeOptions options{
        .recipe = std::move(recipe), .recipe_text = std::move(text), .inputs = host_.bake_inputs()};
    options.progress = [operation](double done, std::string step) mutable {
        operation.set_step(std::move(step), done);
    };
    options.log = [operation](std::string_view line) mutable { operation.append_log(line); };
    operation.cancel().on_cancel([flag = options.cancelled] { flag->store(true); });
    auto baking = bake_template(host_, std::move(options));
    auto made = co_await std::move(baking);
    if (!made) {
        log::warn("template.build", {{"operation", operation.id().str()}, {"why", made.error().message}});
        operation.finish(Result<>{fail(made.error())});
        co_return;
    }
    log::info("template.built", {{"template", made->name.str()}, {"hash", made->hash}});
    collect_templates();
    Event event{.type = EventType::TemplateUpdated};
    event.image = made->name;
    events_.publish(std::move(event));
    operation.finish(Result<>{});
}

Task<Result<Answer>> Service::run(DeleteTemplate request, Asked) {
    const auto& name = request.image;
    DORMOUSE_CO_TRY_ASSIGN(const auto current, templates_.newest(name));
    if (is_built_in(host_, name))
        co_return fail(Errc::Conflict, fmt::format("'{}' is built in and stays", name.str()));
    const auto standing = desktops_on(name, current.hash);
    if (!standing.empty() || pinned_templates_.count(current.hash)) {
        std::string names;
        for (const auto& one : standing) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", one);
        co_return fail(Errc::Conflict,
                       fmt::format("desktops stand on template '{}': {}", name.str(),
                                   names.empty() ? "one that is being created" : names),
                       "delete them first");
    }
    for (const auto& info : operations_.list())
        if (info.image == name && info.state == OperationState::Running)
            co_return fail(Errc::Conflict, fmt::format("template '{}' is being built", name.str()),
                           fmt::format("cancel operation {} first", info.id.str()));
    auto removal = run_on(host_.pool, host_.loop, [store = templates_, name, used = used_templates()] {
        return store.remove(name, used);
    });
    DORMOUSE_CO_TRY(co_await std::move(removal));
    Event event{.type = EventType::TemplateUpdated};
    event.image = name;
    events_.publish(std::move(event));
    co_return Answer{Done{}};
}

}  // namespace dormouse::desktop

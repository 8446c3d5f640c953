// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "hostd/cli/table.h"
#include "hostd/cli/verbs.h"
#include "hostd/schema/json.h"
#include "hostd/schema/schema.h"

namespace dormouse::cli {

namespace {

void add_template(CLI::App& app, std::string& name) {
    app.add_option("NAME", name, "The template, as `template list` shows it")->required();
}

std::string size_of_screen(const schema::Template& image) {
    return fmt::format("{}×{}", image.screen.width, image.screen.height);
}

std::string age(const schema::Template& image, WallTime now) {
    return image.created_at ? relative_time(*image.created_at, now) : "-";
}

// ---- list

Result<int> list(Context& context) {
    DORMOUSE_TRY_ASSIGN(const auto all, context.client().list_templates());
    if (context.json()) {
        context.print_line(schema::to_json(all));
        return kOk;
    }
    if (all.templates.empty()) {
        context.note("There are no templates. Bake the built-in one: ./dormouse up");
        return kOk;
    }
    const auto now = context.clock().wall();
    Table table{{"NAME", "STATE", "BAKED", "SIZE", "SCREEN", "MEMORY", "CPUS", "FROM", "DESKTOPS"}};
    for (const auto& image : all.templates)
        table.add({{image.name, Style::Bold},
                   image.stale_reason ? Cell{"stale", Style::Yellow} : Cell{"fresh", Style::Green},
                   age(image, now),
                   human_size(image.size_bytes),
                   size_of_screen(image),
                   fmt::format("{} MiB", image.memory_mib),
                   std::to_string(image.cpus),
                   image.parent.value_or("-"),
                   std::to_string(image.desktops)});
    context.print(table.render(context.streams().colour));
    return kOk;
}

// ---- show

struct ShowOptions {
    std::string name;
    bool log = false;
    bool recipe = false;
};

Result<int> show_log(Context& context, const std::string& name) {
    std::uint64_t offset = 0;
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const auto part, context.client().template_log(name, offset));
        std::string_view rest = part.text;
        while (!rest.empty()) {
            const auto end = std::min(rest.find('\n'), rest.size());
            context.print_line(plain(rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        if (part.finished || part.next_offset <= offset) return kOk;
        offset = part.next_offset;
    }
}

Result<int> show(Context& context, const ShowOptions& options) {
    if (options.log) return show_log(context, options.name);
    DORMOUSE_TRY_ASSIGN(const auto image, context.client().get_template(options.name));
    if (context.json()) {
        context.print_line(schema::to_json(image));
        return kOk;
    }
    if (options.recipe) {
        if (!image.recipe)
            return fail(
                Errc::NotFound, fmt::format("the recipe of '{}' is not shown", image.name),
                "it takes a token of scope admin, and a template that was not baked by an early version");
        context.print(*image.recipe);  // as it is: to be kept in a file
        return kOk;
    }
    Table table;
    table.add({"Name", {image.name, Style::Bold}});
    if (!image.description.empty()) table.add({"Description", image.description});
    table.add({"State", image.stale_reason ? Cell{"stale: " + *image.stale_reason, Style::Yellow}
                                           : Cell{"fresh", Style::Green}});
    table.add({"From", image.parent.value_or(image.built_in ? "built in" : "-")});
    table.add({"Baked", age(image, context.clock().wall())});
    table.add({"Size", human_size(image.size_bytes)});
    table.add({"Screen", size_of_screen(image)});
    table.add(
        {"Machine", fmt::format("{} MiB, {} CPUs, {}", image.memory_mib, image.cpus, image.accelerator)});
    table.add({"System", fmt::format("{}, {}, keyboard {}, user {}", image.locale, image.timezone,
                                     image.keyboard, image.user)});
    table.add({"QEMU", image.qemu});
    table.add({"Hash", image.hash});
    table.add({"Desktops", std::to_string(image.desktops)});
    context.print(table.render(context.streams().colour));
    context.note(fmt::format("its recipe: {}", context.command("template show " + image.name + " --recipe")));
    context.note(fmt::format("its log:    {}", context.command("template show " + image.name + " --log")));
    return kOk;
}

Action declare_show(CLI::App& app) {
    auto options = std::make_shared<ShowOptions>();
    add_template(app, options->name);
    auto* log = app.add_flag("--log", options->log, "What its bake has said");
    app.add_flag("--recipe", options->recipe, "The recipe that it was baked from")->excludes(log);
    return [options](Context& context) { return show(context, *options); };
}

// ---- remove

Result<int> remove(Context& context, const std::string& name) {
    DORMOUSE_TRY(context.client().delete_template(name));
    if (context.json())
        context.print_line(schema::write_json(schema::Json{{"deleted", schema::Json::array({name})}}));
    else
        context.print_line(fmt::format("{} is gone", plain(name)));
    return kOk;
}

Action declare_remove(CLI::App& app) {
    auto name = std::make_shared<std::string>();
    add_template(app, *name);
    return [name](Context& context) { return remove(context, *name); };
}

}  // namespace

Verb template_list_verb() {
    return {.name = "template list",
            .arguments = "",
            .summary = "Show all templates, and which should be baked again",
            .examples = {"template list"},
            .details = "A stale template works, or says why not; build it again to have today's.",
            .declare = [](CLI::App&) -> Action { return list; }};
}

Verb template_show_verb() {
    return {.name = "template show",
            .arguments = "NAME [--log|--recipe]",
            .summary = "Show one template, its bake's log or its recipe",
            .examples = {"template show desktop", "template show mine --log"},
            .declare = declare_show};
}

Verb template_remove_verb() {
    return {.name = "template remove",
            .arguments = "NAME",
            .summary = "Remove a template that no desktop stands on",
            .examples = {"template remove mine"},
            .declare = declare_remove};
}

}  // namespace dormouse::cli

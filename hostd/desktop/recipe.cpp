// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/recipe.h"

#include <algorithm>
#include <array>

#include "hostd/base/file.h"
#include "hostd/desktop/recipe_parts.h"
#include "hostd/desktop/recipe_reader.h"

namespace dormouse::desktop {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPackages = 1000;
constexpr std::size_t kMostRepositories = 16;
constexpr std::size_t kMostFileEntries = 200;
constexpr std::size_t kMostCommands = 200;
// A folder of that name is in the templates' folder.
constexpr std::string_view kTakenName = "packages";

void read_machine(RecipeReader& in, Recipe& recipe) {
    in.number("memory_mib", recipe.memory_mib, 512, 65536);
    in.number("cpus", recipe.cpus, 1, 32);
    in.number("disk_gib", recipe.disk_gib, 4, 2048);
    std::string screen;
    in.text("screen", screen);
    if (!screen.empty() && !parse_screen(screen, recipe.screen_width, recipe.screen_height))
        in.wrong("screen", "must be WIDTHxHEIGHT, even numbers from 640x480 to 3840x2160");
    in.text("kernel_arguments", recipe.kernel_arguments, {.most_bytes = 1000}, !recipe.parent);
}

void read_packages(RecipeReader& in, Recipe& recipe) {
    auto& packages = recipe.parent ? recipe.added_packages : recipe.packages;
    in.texts("install", packages, kMostPackages);
    for (const auto& package : packages)
        if (!is_package_name(package))
            in.wrong("install",
                     fmt::format("names {}, which is not a package name", quoted_for_error(package)));
}

void read_files(RecipeReader& in, Recipe& recipe, const fs::path& data_folder) {
    if (in.has("overlay") && recipe.parent) in.wrong("overlay", "comes from the recipe that `from` names");
    std::string overlay;
    in.text("overlay", overlay, {}, !recipe.parent);
    // Of this installation's own files; whoever sends a recipe may read no others.
    const auto path = fs::path{overlay}.lexically_normal();
    if (!overlay.empty() && (path.empty() || *path.begin() != "assets" || path == "assets"))
        in.wrong("overlay", "must be a folder below assets/");
    if (!overlay.empty()) recipe.overlay = data_folder / path;
    in.list("add", kMostFileEntries, [&](const toml::node& node) { read_file_entry(in, node, recipe); });
}

void read_system(RecipeReader& in, Recipe& recipe) {
    in.text("locale", recipe.locale);
    if (!is_locale(recipe.locale)) in.wrong("locale", "must be of the form \"de_DE.UTF-8\"");
    in.text("timezone", recipe.timezone);
    if (!is_timezone(recipe.timezone)) in.wrong("timezone", "must be of the form \"Europe/Berlin\"");
    in.text("keyboard", recipe.keyboard);
    if (!is_keyboard(recipe.keyboard)) in.wrong("keyboard", "must be a layout's short name, such as \"de\"");
    if (in.has("user") && recipe.parent) in.wrong("user", "comes from the recipe that `from` names");
    in.text("user", recipe.user, {}, !recipe.parent);
    if (!recipe.user.empty() && !is_user_name(recipe.user)) in.wrong("user", "must be a user name, not root");
    in.list("commands", kMostCommands,
            [&](const toml::node& node) { read_command(in, node, recipe, recipe.name.str()); });
}

Result<toml::table> parse_toml(std::string_view text) {
    if (text.size() > kMostRecipeBytes)
        return fail(Errc::TooLarge, fmt::format("the recipe has more than {} bytes", kMostRecipeBytes));
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        return fail(Errc::InvalidArgument,
                    fmt::format("line {}: {}", error.source().begin.line, std::string{error.description()}));
    } catch (const std::runtime_error& error) {
        return fail(Errc::InvalidArgument, error.what());
    }
}

Result<TemplateName> name_of(RecipeReader& top, const std::optional<TemplateName>& given) {
    std::string name;
    top.text("name", name, {}, !given);
    if (top.has("name") && !top.failed() && (!is_identifier(name) || name == kTakenName))
        top.wrong("name", fmt::format("is {}; use 1 to 40 characters: lower-case letters, digits and '-', "
                                      "beginning with a letter, and not '{}'",
                                      quoted_for_error(name), kTakenName));
    if (given) return *given;
    return TemplateName::parse(is_identifier(name) ? name : "unnamed");  // then there is an error already
}

// Fills in what `root` says on top of what `recipe` has from its parent.
Result<> read_onto(const toml::table& root, RecipeReader& top, Recipe& recipe, const fs::path& data_folder) {
    top.text("description", recipe.description, {.most_bytes = 300, .may_be_empty = true});
    if (top.has("suite") && recipe.parent) top.wrong("suite", "comes from the recipe that `from` names");
    top.text("suite", recipe.suite, {}, !recipe.parent);
    if (!recipe.suite.empty() && !is_identifier(recipe.suite))
        top.wrong("suite", "must be the name of a Debian release");
    RecipeReader machine{*top.table("machine"), "machine."};
    RecipeReader packages{*top.table("packages"), "packages."};
    RecipeReader files{*top.table("files"), "files."};
    RecipeReader system{*top.table("system"), "system."};
    top.list("repositories", kMostRepositories,
             [&](const toml::node& node) { read_repository(top, node, recipe); });
    if (auto error = top.finish()) return fail(std::move(*error));

    read_machine(machine, recipe);
    if (auto error = machine.finish()) return fail(std::move(*error));
    read_packages(packages, recipe);
    if (auto error = packages.finish()) return fail(std::move(*error));
    read_files(files, recipe, data_folder);
    if (auto error = files.finish()) return fail(std::move(*error));
    read_system(system, recipe);
    if (auto error = system.finish()) return fail(std::move(*error));
    if (root.empty()) return fail(Errc::InvalidArgument, "the recipe is empty");
    return {};
}

// One level: what a parent inherits in its turn would be nobody's to follow.
Result<Recipe> load_parent(const toml::node& from, const TemplateName& name,
                           const RecipeSurroundings& surroundings) {
    auto text = surroundings.built_in
                    ? surroundings.built_in(name)
                    : Result<std::string>{fail(Errc::NotFound, "there are no built-in recipes here")};
    if (!text) {
        auto error = text.error();
        error.message = fmt::format("line {}: 'from': {}", line_of(from), error.message);
        if (error.code == Errc::NotFound) error.code = Errc::InvalidArgument;
        return fail(std::move(error));
    }
    RecipeSurroundings without{.data_folder = surroundings.data_folder, .built_in = {}, .name = name};
    auto parent = parse_recipe(*text, without);
    if (!parent) return fail_in(fmt::format("the recipe '{}'", name.str()), parent.error());
    return parent;
}

}  // namespace

Result<Recipe> parse_recipe(std::string_view text, const RecipeSurroundings& surroundings) {
    DORMOUSE_TRY_ASSIGN(const auto root, parse_toml(text));
    RecipeReader top{root, ""};
    DORMOUSE_TRY_ASSIGN(auto name, name_of(top, surroundings.name));
    Recipe recipe{.name = name};
    std::string from;
    top.text("from", from);
    if (!from.empty() && !top.failed()) {
        const auto parent_name = TemplateName::parse(from);
        if (!parent_name) {
            top.wrong("from", "must be the name of a built-in recipe, such as \"desktop\"");
        } else {
            DORMOUSE_TRY_ASSIGN(recipe, load_parent(*root.get("from"), *parent_name, surroundings));
            recipe.name = std::move(name);
            recipe.parent = *parent_name;
            recipe.description.clear();
        }
    }
    DORMOUSE_TRY(read_onto(root, top, recipe, surroundings.data_folder));
    return recipe;
}

RecipeSurroundings surroundings_in(const fs::path& data_folder) {
    auto read = [folder = data_folder / "assets/templates"](const TemplateName& name) -> Result<std::string> {
        const auto file = folder / (name.str() + ".toml");
        std::error_code error;
        if (fs::is_regular_file(file, error)) return read_file(file, kMostRecipeBytes);
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator{folder, error})
            if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
        std::sort(names.begin(), names.end());
        std::string all;
        for (const auto& one : names) all += fmt::format("{}'{}'", all.empty() ? "" : ", ", one);
        return fail(Errc::NotFound, fmt::format("there is no built-in recipe '{}'", name.str()),
                    fmt::format("there is {}", all.empty() ? "none at all" : all));
    };
    return {.data_folder = data_folder, .built_in = std::move(read), .name = {}};
}

}  // namespace dormouse::desktop

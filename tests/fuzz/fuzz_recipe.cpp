// SPDX-License-Identifier: Apache-2.0
// A recipe that somebody sent: any text gives a recipe or an error, and whatever
// comes through is safe in a path, a command line and apt's configuration.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hostd/base/check.h"
#include "hostd/desktop/template_builder.h"

namespace {

using namespace dormouse::desktop;

constexpr std::string_view kParent = R"(name = "desktop"
suite = "bookworm"
machine.kernel_arguments = "quiet"
files.overlay = "assets/guest"
system.user = "user"
)";

void check_path(std::string_view path) {
    DORMOUSE_CHECK(path.size() > 1 && path.front() == '/');
    DORMOUSE_CHECK(path.find('\n') == path.npos && path.find('\0') == path.npos);
    DORMOUSE_CHECK(path.find("/../") == path.npos && !path.ends_with("/..") && path.find("//") == path.npos);
}

// One field a line, and nothing but fields and what is indented.
void check_sources(const RecipeRepository& repository) {
    const auto text = sources_text(repository);
    const auto fields = std::count_if(text.begin(), text.end(), [&, at = text.data()](const char& c) {
        return (&c == at || *(&c - 1) == '\n') && c != ' ';
    });
    DORMOUSE_CHECK(fields == (repository.components.empty() ? 4 : 5));
}

void check_recipe(const Recipe& recipe) {
    DORMOUSE_CHECK(dormouse::is_identifier(recipe.name.str()));
    DORMOUSE_CHECK(recipe.memory_mib >= 512 && recipe.cpus >= 1 && recipe.screen_width % 2 == 0);
    for (const auto& file : recipe.files) check_path(file.path);
    for (const auto* list : {&recipe.packages, &recipe.added_packages})
        for (const auto& package : *list)
            DORMOUSE_CHECK(package.front() != '-' && package.find(' ') == package.npos);
    for (const auto& repository : recipe.repositories) check_sources(repository);
    for (const auto& text : {recipe.locale, recipe.timezone, recipe.keyboard, recipe.user})
        DORMOUSE_CHECK(!text.empty() && text.find_first_of(" \n\"'$`") == text.npos);
    const auto overlay = recipe.overlay.string();
    DORMOUSE_CHECK(overlay.starts_with("/source/assets/") && overlay.find("..") == overlay.npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const RecipeSurroundings around{
        .data_folder = "/source",
        .built_in = [](const dormouse::TemplateName&) -> dormouse::Result<std::string> {
            return std::string{kParent};
        },
        .name = {}};
    const auto recipe = parse_recipe(text, around);
    if (recipe)
        check_recipe(*recipe);
    else
        DORMOUSE_CHECK(!recipe.error().message.empty());
    BuilderSaid said;
    (void)read_builder_line(text, said);
    if (recipe) (void)explain_failure(*recipe, said);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_report.h"

#include <sys/stat.h>

#include "hostd/base/file.h"
#include "hostd/desktop/machine_plan.h"

namespace dormouse::desktop {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kBlock = 512;  // what st_blocks counts in

fs::path built_in_file(const Host& host, const TemplateName& name) {
    return host.data_folder / "assets/templates" / (name.str() + ".toml");
}

std::uint64_t size_on_disk(const fs::path& folder) {
    std::uint64_t size = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{folder, error}) {
        struct stat info {};
        if (::lstat(entry.path().c_str(), &info) == 0)
            size += static_cast<std::uint64_t>(info.st_blocks) * kBlock;
    }
    return size;
}

}  // namespace

bool is_built_in(const Host& host, const TemplateName& name) {
    std::error_code error;
    return !host.data_folder.empty() && fs::is_regular_file(built_in_file(host, name), error);
}

std::optional<std::string> why_stale(const Host& host, const Template& image) {
    if (const auto fits = check_memory_image(host, image); !fits) return fits.error().message;
    if (host.data_folder.empty()) return std::nullopt;  // nothing to compare with
    if (image.inputs == InputHashes{}) return "it was baked by an earlier version of Dormouse";
    const auto file = is_built_in(host, image.name) ? built_in_file(host, image.name) : image.recipe_file();
    auto around = surroundings_in(host.data_folder);
    around.name = image.name;
    const auto text = read_file(file, kMostRecipeBytes);
    if (!text) return "its recipe cannot be read: " + text.error().message;
    const auto recipe = parse_recipe(*text, around);
    if (!recipe) return "its recipe is not understood any more: " + recipe.error().message;
    const auto now = hash_inputs(*recipe, host.bake_inputs());
    if (!now) return now.error().message;
    if (const auto what = differences(image.inputs, *now); !what.empty()) return "changed since: " + what;
    const auto plan = plan_template(host, *recipe);
    if (plan && bake_hash(*now, machine_of(*plan)) != image.hash)
        return "templates are baked in another way by now";
    return std::nullopt;
}

TemplateInfo report_on(const Host& host, const Template& image) {
    TemplateInfo info{.name = image.name,
                      .hash = image.hash,
                      .description = image.description,
                      .parent = {},
                      .created_at = {},
                      .memory_mib = image.memory_mib,
                      .cpus = image.cpus,
                      .screen_width = image.screen_width,
                      .screen_height = image.screen_height,
                      .user = image.user,
                      .locale = image.locale,
                      .timezone = image.timezone,
                      .keyboard = image.keyboard,
                      .qemu_version = image.qemu_version,
                      .accelerator = image.accelerator,
                      .size = size_on_disk(image.folder),
                      .is_built_in = is_built_in(host, image.name),
                      .stale = why_stale(host, image),
                      .desktops = 0,
                      .recipe = {}};
    if (!image.parent.empty()) info.parent = image.parent;
    if (image.created_at != WallTime{}) info.created_at = image.created_at;
    return info;
}

}  // namespace dormouse::desktop

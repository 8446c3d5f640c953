// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_store.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hostd/base/file.h"

namespace dormouse::desktop {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int kManifestVersion = 1;

// What early versions did not write.
void read_additions(const Json& json, Template& found) {
    found.description = json.value("description", "");
    found.parent = json.value("from", "");
    found.locale = json.value("locale", "");
    found.timezone = json.value("timezone", "");
    found.keyboard = json.value("keyboard", "us");
    found.packages_hash = json.value("packages_hash", "");
    found.created_at = WallTime{std::chrono::milliseconds{json.value("created_at_ms", std::int64_t{0})}};
    const auto inputs = json.value("inputs", Json::object());
    found.inputs = {.recipe = inputs.value("recipe", ""),
                    .guest_files = inputs.value("guest_files", ""),
                    .agent = inputs.value("agent", ""),
                    .builder = inputs.value("builder", "")};
}

Result<Template> parse_manifest(const fs::path& folder, const Json& json) {
    try {
        if (json.at("version").get<int>() != kManifestVersion)
            return fail(Errc::Corrupt,
                        fmt::format("{}: made by another version of Dormouse", folder.string()),
                        "bake it again: dormoused bake");
        DORMOUSE_TRY_ASSIGN(auto name, TemplateName::parse(json.at("name").get<std::string>()));
        Template found{.name = std::move(name), .hash = json.at("hash").get<std::string>(), .folder = folder};
        const auto& machine = json.at("machine");
        found.memory_mib = machine.at("memory_mib").get<int>();
        found.cpus = machine.at("cpus").get<int>();
        found.screen_width = machine.at("screen_width").get<int>();
        found.screen_height = machine.at("screen_height").get<int>();
        found.kernel_arguments = machine.at("kernel_arguments").get<std::string>();
        found.user = json.at("user").get<std::string>();
        read_additions(json, found);
        const auto& image = json.at("memory_image");
        found.accelerator = image.at("accelerator").get<std::string>();
        found.cpu_model = image.at("cpu_model").get<std::string>();
        found.qemu_version = image.at("qemu_version").get<std::string>();
        found.command_hash = image.at("command_hash").get<std::string>();
        return found;
    } catch (const Json::exception& error) {
        return fail(Errc::Corrupt, fmt::format("{}: {}", (folder / "template.json").string(), error.what()));
    }
}

}  // namespace

Result<> write_template_manifest(const Template& made) {
    const Json json{
        {"version", kManifestVersion},
        {"name", made.name.str()},
        {"hash", made.hash},
        {"user", made.user},
        {"description", made.description},
        {"from", made.parent},
        {"locale", made.locale},
        {"timezone", made.timezone},
        {"keyboard", made.keyboard},
        {"packages_hash", made.packages_hash},
        {"created_at_ms",
         std::chrono::duration_cast<std::chrono::milliseconds>(made.created_at.time_since_epoch()).count()},
        {"inputs",
         {{"recipe", made.inputs.recipe},
          {"guest_files", made.inputs.guest_files},
          {"agent", made.inputs.agent},
          {"builder", made.inputs.builder}}},
        {"machine",
         {{"memory_mib", made.memory_mib},
          {"cpus", made.cpus},
          {"screen_width", made.screen_width},
          {"screen_height", made.screen_height},
          {"kernel_arguments", made.kernel_arguments}}},
        {"memory_image",
         {{"accelerator", made.accelerator},
          {"cpu_model", made.cpu_model},
          {"qemu_version", made.qemu_version},
          {"command_hash", made.command_hash}}},
    };
    return write_file_atomic(made.folder / "template.json", json.dump(2) + "\n", 0644);
}

Result<Template> read_template(const fs::path& folder) {
    DORMOUSE_TRY_ASSIGN(const auto text, read_file(folder / "template.json", 1 << 20));
    const auto json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
        return fail(Errc::Corrupt, fmt::format("{}: not JSON", (folder / "template.json").string()));
    return parse_manifest(folder, json);
}

fs::path TemplateStore::folder_of(const TemplateName& name, const std::string& hash) const {
    return root_ / fmt::format("{}-{}", name.str(), hash);
}

Result<Template> TemplateStore::newest(const TemplateName& name) const {
    std::error_code error;
    const auto target = fs::read_symlink(root_ / name.str(), error);
    if (!error) return read_template(root_ / target.filename());
    if (name.str() == "desktop")
        return fail(Errc::Unavailable, "there is no template 'desktop'", "bake it: ./dormouse up");
    return fail(Errc::NotFound, fmt::format("there is no template '{}'", name.str()),
                "see: ./dormouse template list");
}

std::vector<Template> TemplateStore::list() const {
    std::vector<Template> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{root_, error}) {
        if (!entry.is_symlink(error)) continue;
        const auto name = TemplateName::parse(entry.path().filename().string());
        if (!name) continue;
        if (auto found = newest(*name)) all.push_back(std::move(*found));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return all;
}

Result<> TemplateStore::remove(const TemplateName& name, const std::set<std::string>& used) const {
    DORMOUSE_TRY_ASSIGN(const auto current, newest(name));
    std::error_code error;
    // The name first: from here on nobody begins to use it.
    fs::remove(root_ / name.str(), error);
    if (error) return fail_errno((root_ / name.str()).string(), error.value());
    for (const auto& entry : fs::directory_iterator{root_, error}) {
        if (entry.is_symlink(error) || !entry.is_directory(error)) continue;
        const auto found = read_template(entry.path());
        if (found && found->name == name && !used.count(found->hash)) DORMOUSE_TRY(remove_tree(entry.path()));
    }
    return sync_directory(root_);
}

void TemplateStore::collect_packages(const std::string& wanted) const {
    std::set<std::string> kept{wanted + ".tar"};
    for (const auto& one : list()) kept.insert(one.packages_hash + ".tar");
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{root_ / "packages", error})
        if (entry.path().extension() == ".tar" && !kept.count(entry.path().filename().string()))
            (void)remove_tree(entry.path());
}

Result<Template> TemplateStore::find(const TemplateName& name, const std::string& hash) const {
    auto found = read_template(folder_of(name, hash));
    if (!found) return fail_in(fmt::format("template {}-{}", name.str(), hash), found.error());
    return found;
}

Result<> TemplateStore::publish(const Template& made) const {
    const auto link = root_ / made.name.str();
    const auto fresh = root_ / (made.name.str() + ".partial-link");
    std::error_code error;
    fs::remove(fresh, error);
    fs::create_symlink(made.folder.filename(), fresh, error);
    if (error) return fail_errno(fmt::format("cannot make {}", fresh.string()), error.value());
    fs::rename(fresh, link, error);
    if (error) return fail_errno(fmt::format("cannot make {}", link.string()), error.value());
    return sync_directory(root_);
}

std::vector<fs::path> TemplateStore::collect_garbage(const std::set<std::string>& used) const {
    std::vector<fs::path> removed;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{root_, error}) {
        if (entry.is_symlink(error) || !entry.is_directory(error)) continue;
        auto found = read_template(entry.path());
        if (!found || used.count(found->hash)) continue;  // not a finished bake, or somebody stands on it
        const auto current = newest(found->name);
        if (current && current->hash == found->hash) continue;
        if (remove_tree(entry.path())) removed.push_back(entry.path());
    }
    return removed;
}

}  // namespace dormouse::desktop

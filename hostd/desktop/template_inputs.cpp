// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_inputs.h"

#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "hostd/base/file.h"

namespace dormouse::desktop {

namespace fs = std::filesystem;

namespace {

// Raised when the same inputs are to give another result.
constexpr std::string_view kFormat = "dormouse-template-2";

class Hasher {
  public:
    Hasher() { crypto_generichash_init(&state_, nullptr, 0, crypto_generichash_BYTES); }

    // With its length, so that two neighbours cannot pass for one.
    void add(std::string_view bytes) {
        const auto size = std::to_string(bytes.size()) + ":";
        update(size);
        update(bytes);
    }
    void add_number(std::size_t number) { add(std::to_string(number)); }
    void add_all(const std::vector<std::string>& texts) {
        add_number(texts.size());
        for (const auto& text : texts) add(text);
    }
    Result<> add_file(const fs::path& path) {
        DORMOUSE_TRY_ASSIGN(const auto content, read_file(path, 256 << 20));
        add(content);
        return {};
    }
    std::string finish() {
        unsigned char digest[crypto_generichash_BYTES];
        crypto_generichash_final(&state_, digest, sizeof digest);
        std::string text;
        for (std::size_t i = 0; i < 8; ++i) text += fmt::format("{:02x}", digest[i]);
        return text;
    }

  private:
    void update(std::string_view bytes) {
        crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()),
                                  bytes.size());
    }
    crypto_generichash_state state_;
};

// Names, kinds, modes and contents of a whole tree, in a fixed order.
Result<> add_tree(Hasher& hasher, const fs::path& root) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator{root, error}) paths.push_back(entry.path());
    if (error) return fail_errno(root.string(), error.value());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
        struct stat info {};
        if (::lstat(path.c_str(), &info) != 0) return fail_errno(path.string());
        hasher.add(path.lexically_relative(root).string());
        // Of the mode only what a checkout keeps: it depends on the umask else.
        hasher.add(S_ISDIR(info.st_mode) ? "folder" : (info.st_mode & 0100) != 0 ? "program" : "file");
        if (S_ISREG(info.st_mode)) DORMOUSE_TRY(hasher.add_file(path));
        if (S_ISLNK(info.st_mode)) hasher.add(fs::read_symlink(path, error).string());
    }
    return {};
}

void add_packages(Hasher& hasher, const Recipe& recipe) {
    hasher.add(recipe.suite);
    // Translations into other languages are left out.
    hasher.add(recipe.locale);
    hasher.add_all(recipe.packages);
}

void add_parts(Hasher& hasher, const Recipe& recipe) {
    hasher.add_all(recipe.added_packages);
    hasher.add_number(recipe.repositories.size());
    for (const auto& repository : recipe.repositories) {
        for (const auto& text : {repository.name, repository.uri, repository.key}) hasher.add(text);
        hasher.add_all(repository.suites);
        hasher.add_all(repository.components);
        hasher.add_all(repository.packages);
    }
    hasher.add_number(recipe.files.size());
    for (const auto& file : recipe.files) {
        hasher.add(file.path);
        hasher.add(file.content);
        hasher.add_number(file.mode);
        hasher.add(file.is_users ? "user" : "root");
    }
    hasher.add_number(recipe.commands.size());
    for (const auto& command : recipe.commands) {
        hasher.add(command.text);
        hasher.add(command.as_user ? "user" : "root");
    }
}

void add_system(Hasher& hasher, const Recipe& recipe) {
    for (const int number :
         {recipe.memory_mib, recipe.cpus, recipe.disk_gib, recipe.screen_width, recipe.screen_height})
        hasher.add_number(static_cast<std::size_t>(number));
    for (const auto& text : {recipe.name.str(), recipe.description, recipe.kernel_arguments, recipe.timezone,
                             recipe.keyboard, recipe.user})
        hasher.add(text);
}

}  // namespace

fs::path stage_script(const BakeInputs& inputs, const std::string& stage) {
    return inputs.builder.parent_path() / fmt::format("stage-{}.sh", stage);
}

Result<InputHashes> hash_inputs(const Recipe& recipe, const BakeInputs& inputs) {
    InputHashes hashes;
    Hasher of_recipe;
    add_packages(of_recipe, recipe);
    add_parts(of_recipe, recipe);
    add_system(of_recipe, recipe);
    hashes.recipe = of_recipe.finish();
    Hasher of_files;
    if (!recipe.overlay.empty()) DORMOUSE_TRY(add_tree(of_files, recipe.overlay));
    hashes.guest_files = of_files.finish();
    Hasher of_agent;
    DORMOUSE_TRY(of_agent.add_file(inputs.agent_binary));
    hashes.agent = of_agent.finish();
    Hasher of_builder;
    DORMOUSE_TRY(of_builder.add_file(inputs.builder));
    for (const std::string stage : {"packages", "disk"})
        DORMOUSE_TRY(of_builder.add_file(stage_script(inputs, stage)));
    hashes.builder = of_builder.finish();
    return hashes;
}

std::string bake_hash(const InputHashes& hashes, const std::string& machine) {
    Hasher hasher;
    hasher.add(kFormat);
    for (const auto& text : {hashes.recipe, hashes.guest_files, hashes.agent, hashes.builder, machine})
        hasher.add(text);
    return hasher.finish();
}

Result<std::string> packages_hash(const Recipe& recipe, const BakeInputs& inputs) {
    Hasher hasher;
    hasher.add(kFormat);
    add_packages(hasher, recipe);
    DORMOUSE_TRY(hasher.add_file(inputs.builder));
    DORMOUSE_TRY(hasher.add_file(stage_script(inputs, "packages")));
    return hasher.finish();
}

std::string differences(const InputHashes& before, const InputHashes& now) {
    std::string all;
    const auto compare = [&](const std::string& was, const std::string& is, std::string_view what) {
        if (was != is) all += fmt::format("{}{}", all.empty() ? "" : ", ", what);
    };
    compare(before.recipe, now.recipe, "the recipe");
    compare(before.guest_files, now.guest_files, "the guest's files");
    compare(before.agent, now.agent, "the guest agent");
    compare(before.builder, now.builder, "the builder");
    return all;
}

Result<fs::path> find_data_folder(const fs::path& program_folder) {
    std::error_code error;
    const auto holds_data = [&](const fs::path& folder) {
        return fs::is_regular_file(folder / "guest/image/build-rootfs.sh", error) &&
               fs::is_directory(folder / "assets/templates", error);
    };
    for (auto folder = program_folder;; folder = folder.parent_path()) {
        for (const auto& candidate : {folder, folder / "share/dormouse"})
            if (holds_data(candidate)) return candidate;
        if (folder == folder.parent_path() || folder.empty()) break;
    }
    return fail(
        Errc::NotFound,
        fmt::format("neither {} nor a folder above it has assets/ and guest/", program_folder.string()),
        "run the daemon from its checkout: ./dormouse up");
}

}  // namespace dormouse::desktop

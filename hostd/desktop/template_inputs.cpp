// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_inputs.h"

#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>

#include "hostd/base/file.h"

namespace dormouse::desktop {

namespace fs = std::filesystem;

namespace {

// Raised when the same inputs are to give another result.
constexpr std::string_view kFormat = "dormouse-template-1";

class Hasher {
  public:
    Hasher() { crypto_generichash_init(&state_, nullptr, 0, crypto_generichash_BYTES); }

    // With its length, so that two neighbours cannot pass for one.
    void add(std::string_view bytes) {
        const auto size = std::to_string(bytes.size()) + ":";
        update(size);
        update(bytes);
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

}  // namespace

Result<std::string> packages_hash(const Recipe& recipe, const BakeInputs& inputs) {
    Hasher hasher;
    hasher.add(kFormat);
    hasher.add(recipe.suite);
    hasher.add(recipe.locale);
    for (const auto& package : recipe.packages) hasher.add(package);
    DORMOUSE_TRY(hasher.add_file(inputs.builder));
    return hasher.finish();
}

Result<std::string> bake_hash(const Recipe& recipe, const BakeInputs& inputs, const std::string& machine) {
    Hasher hasher;
    hasher.add(kFormat);
    hasher.add(machine);
    DORMOUSE_TRY(hasher.add_file(inputs.recipe_file));
    DORMOUSE_TRY(hasher.add_file(inputs.builder));
    DORMOUSE_TRY(hasher.add_file(inputs.agent_binary));
    if (!recipe.overlay.empty()) DORMOUSE_TRY(add_tree(hasher, recipe.overlay));
    return hasher.finish();
}

std::vector<std::string> packages_arguments(const Recipe& recipe, const BakeInputs& inputs,
                                            const fs::path& list, const fs::path& output,
                                            const fs::path& work) {
    return {"bash",          inputs.builder.string(),
            "packages",      "--suite",
            recipe.suite,    "--packages",
            list.string(),   "--output",
            output.string(), "--work",
            work.string(),   "--locale",
            recipe.locale};
}

std::vector<std::string> disk_arguments(const Recipe& recipe, const BakeInputs& inputs,
                                        const fs::path& packages, const fs::path& commands,
                                        const fs::path& output, const fs::path& work) {
    return {"bash",
            inputs.builder.string(),
            "disk",
            "--packages-tar",
            packages.string(),
            "--overlay",
            recipe.overlay.string(),
            "--agent",
            inputs.agent_binary.string(),
            "--commands",
            commands.string(),
            "--output",
            output.string(),
            "--work",
            work.string(),
            "--user",
            recipe.user,
            "--locale",
            recipe.locale,
            "--timezone",
            recipe.timezone,
            "--keyboard",
            recipe.keyboard,
            "--disk-gib",
            std::to_string(recipe.disk_gib)};
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "hostd/cli/doctor.h"

namespace dormouse::cli::doctor {

namespace fs = std::filesystem;

namespace {

// A unix socket's path has at most 107 bytes; this is what comes behind the run
// folder at most: "/d-1a2b3c4d5e/keeper.sock".
constexpr std::size_t kLongestSocketPath = 107;
constexpr std::size_t kBehindRunFolder = 25;
constexpr unsigned kOthersWrite = S_IWGRP | S_IWOTH;
constexpr unsigned kOthersRead = S_IRGRP | S_IROTH;
constexpr unsigned kPermissions = 0777;

std::string octal(mode_t mode) {
    return fmt::format("{:04o}", mode & kPermissions);
}

}  // namespace

Finding check_state_folder(const Config& config) {
    const std::string check = "state folder";
    const auto path = config.home.string();
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        if (errno == ENOENT) return {check, Level::Ok, path + " will be made", {}};
        return {check, Level::Fail, fail_errno(path).value().message, "set DORMOUSE_HOME to another folder"};
    }
    if (!S_ISDIR(info.st_mode))
        return {check, Level::Fail, path + " is not a folder", "move it away, or set DORMOUSE_HOME"};
    if (info.st_uid != ::geteuid())
        return {check, Level::Fail, path + " belongs to another user",
                "set DORMOUSE_HOME to a folder of your own"};
    if ((info.st_mode & kOthersWrite) != 0)
        return {check, Level::Fail,
                fmt::format("{} may be written by others ({})", path, octal(info.st_mode)),
                fmt::format("chmod 0700 {}", path)};
    if ((info.st_mode & kOthersRead) != 0)
        return {check, Level::Warn, fmt::format("{} may be listed by others ({})", path, octal(info.st_mode)),
                "the daemon closes it when it starts"};
    return {check, Level::Ok, fmt::format("{} ({})", path, octal(info.st_mode)), {}};
}

Finding check_run_folder(const Config& config) {
    const auto path = config.run.string();
    const auto longest = path.size() + kBehindRunFolder;
    if (longest > kLongestSocketPath)
        return {"run folder", Level::Fail,
                fmt::format("{}: socket paths would have {} bytes, and {} is the most", path, longest,
                            kLongestSocketPath),
                "set XDG_RUNTIME_DIR to a shorter path"};
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && info.st_uid != ::geteuid())
        return {"run folder", Level::Fail, path + " belongs to another user", "remove it"};
    return {"run folder", Level::Ok, path, {}};
}

Finding check_template(const Config& config) {
    std::string names;
    std::error_code error;
    // A name is a link to the folder of its newest bake.
    for (const auto& entry : fs::directory_iterator{config.templates, error}) {
        std::error_code ignored;
        if (!entry.is_symlink(ignored) || !fs::exists(entry.path() / "template.json", ignored)) continue;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.path().filename().string());
    }
    if (!names.empty()) return {"template", Level::Ok, names, {}};
    return {"template", Level::Fail, fmt::format("none is baked in {}", config.templates.string()),
            "bake it: ./dormouse up"};
}

Finding check_token_file(const Config& config) {
    const auto path = config.admin_token().string();
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        if (errno == ENOENT)
            return {"token file", Level::Ok, path + " will be made when the daemon starts", {}};
        return {"token file", Level::Fail, fail_errno(path).value().message,
                "run this as the user of the daemon"};
    }
    if (info.st_uid != ::geteuid() || (info.st_mode & (kOthersRead | kOthersWrite)) != 0)
        return {"token file", Level::Fail,
                fmt::format("{} is open to others ({})", path, octal(info.st_mode)),
                fmt::format("chown {} {} && chmod 0600 {}", ::geteuid(), path, path)};
    return {"token file", Level::Ok, fmt::format("{} ({})", path, octal(info.st_mode)), {}};
}

// Other things lie there too, such as a bake's folder.
std::vector<std::string> desktop_folders(const Config& config) {
    std::vector<std::string> all;
    for (const auto& root : {config.desktops(), config.run}) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator{root, error})
            if (entry.path().filename().string().starts_with("d-")) all.push_back(entry.path().string());
    }
    std::sort(all.begin(), all.end());
    return all;
}

Finding check_leftovers(const Context& context, const DaemonView& daemon) {
    if (!daemon.desktops || !daemon.lock_held)
        return {
            "leftovers", Level::Ok, "not looked for: only the daemon knows what belongs to a desktop", {}};
    std::string left;
    for (const auto& folder : daemon.folders) {
        const auto id = fs::path{folder}.filename().string();
        const auto& known = daemon.desktops->desktops;
        const bool is_known =
            std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.id == id; });
        std::error_code ignored;
        // It may have been deleted since we looked.
        if (is_known || !fs::exists(folder, ignored)) continue;
        left += fmt::format("{}{}", left.empty() ? "" : ", ", folder);
    }
    if (left.empty()) return {"leftovers", Level::Ok, "none", {}};
    return {"leftovers", Level::Warn, "of no desktop: " + left,
            fmt::format("the daemon removes them when it starts: {}, then ./dormouse up",
                        context.command("down"))};
}

}  // namespace dormouse::cli::doctor

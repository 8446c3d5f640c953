// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

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

std::string octal(unsigned mode) {
    return fmt::format("{:04o}", mode);
}

}  // namespace

fs::path nearest_folder(HostView& host, fs::path folder) {
    while (!host.look(folder) && folder.has_parent_path() && folder != folder.parent_path())
        folder = folder.parent_path();
    const auto resolved = host.resolve(folder);
    return resolved.empty() ? folder : resolved;
}

Finding check_state_folder(HostView& host, const Config& config) {
    const std::string check = "state folder";
    const auto path = config.home.string();
    const auto real = host.resolve(config.home);
    const auto facts = host.look(real.empty() ? config.home : real);
    if (!facts) {
        if (facts.error().code == Errc::NotFound) return {check, Level::Ok, path + " will be made", {}};
        return {check, Level::Fail, facts.error().message, "set DORMOUSE_HOME to another folder"};
    }
    if (facts->kind != FileKind::Folder)
        return {check, Level::Fail, path + " is not a folder", "move it away, or set DORMOUSE_HOME"};
    if (facts->owner != host.uid())
        return {check, Level::Fail, path + " belongs to another user",
                "set DORMOUSE_HOME to a folder of your own"};
    if ((facts->mode & kOthersWrite) != 0)
        return {check, Level::Fail, fmt::format("{} may be written by others ({})", path, octal(facts->mode)),
                fmt::format("chmod 0700 {}", path)};
    if ((facts->mode & kOthersRead) != 0)
        return {check, Level::Warn, fmt::format("{} may be listed by others ({})", path, octal(facts->mode)),
                "the daemon closes it when it starts"};
    return {check, Level::Ok, fmt::format("{} ({})", path, octal(facts->mode)), {}};
}

Finding check_run_folder(HostView& host, const Config& config) {
    const auto path = config.run.string();
    const auto longest = path.size() + kBehindRunFolder;
    if (longest > kLongestSocketPath)
        return {"run folder", Level::Fail,
                fmt::format("{}: socket paths would have {} bytes, and {} is the most", path, longest,
                            kLongestSocketPath),
                "set XDG_RUNTIME_DIR to a shorter path"};
    const auto facts = host.look(config.run);
    if (facts && facts->owner != host.uid())
        return {"run folder", Level::Fail, path + " belongs to another user", "remove it"};
    return {"run folder", Level::Ok, path, {}};
}

Finding check_token_file(HostView& host, const Config& config) {
    const auto path = config.admin_token().string();
    const auto facts = host.look(config.admin_token());
    if (!facts) {
        if (facts.error().code == Errc::NotFound)
            return {"token file", Level::Ok, path + " will be made when the daemon starts", {}};
        return {"token file", Level::Fail, facts.error().message, "run this as the user of the daemon"};
    }
    if (facts->owner != host.uid() || (facts->mode & (kOthersRead | kOthersWrite)) != 0)
        return {"token file", Level::Fail, fmt::format("{} is open to others ({})", path, octal(facts->mode)),
                fmt::format("chown {} {} && chmod 0600 {}", host.uid(), path, path)};
    return {"token file", Level::Ok, fmt::format("{} ({})", path, octal(facts->mode)), {}};
}

}  // namespace dormouse::cli::doctor

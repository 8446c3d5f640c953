// SPDX-License-Identifier: Apache-2.0
#include <pwd.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "hostd/base/file.h"
#include "hostd/base/process.h"
#include "hostd/cli/doctor.h"

namespace dormouse::cli::doctor {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kGiB = 1ULL << 30;
constexpr std::uint64_t kWarnDisk = 10 * kGiB;
constexpr std::uint64_t kLeastDisk = kGiB;
constexpr std::uint64_t kWarnMemory = 5 * kGiB / 2;  // one desktop of 2 GiB, and its QEMU
constexpr int kOldestQemuMajor = 7;                  // datagram network, 7.2
constexpr int kOldestQemuMinor = 2;
constexpr const char* kQemu = "qemu-system-x86_64";
constexpr const char* kMachineUser = "dormouse-vm";  // as ./dormouse up makes it

bool in_path(std::string_view program) {
    const char* value = ::getenv("PATH");
    std::string_view path = value ? value : "";
    while (!path.empty()) {
        const auto end = std::min(path.find(':'), path.size());
        const auto candidate = fs::path{path.substr(0, end)} / program;
        if (end > 0 && ::access(candidate.c_str(), X_OK) == 0) return true;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return false;
}

// "QEMU emulator version 7.2.15 (Debian ...)": the number.
std::string version_in(const std::string& text) {
    constexpr std::string_view kMark = "version ";
    const auto at = text.find(kMark);
    if (at == std::string::npos) return {};
    const auto begin = at + kMark.size();
    return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

bool is_old(const std::string& version) {
    int major = 0;
    int minor = 0;
    const char* end = version.data() + version.size();
    const auto first = std::from_chars(version.data(), end, major);
    if (first.ptr != end) std::from_chars(first.ptr + 1, end, minor);
    return major < kOldestQemuMajor || (major == kOldestQemuMajor && minor < kOldestQemuMinor);
}

// "MemAvailable:   123456 kB" of /proc/meminfo, in bytes.
std::uint64_t memory_value(const std::string& text, std::string_view name) {
    const auto at = text.find(name);
    if (at == std::string::npos) return 0;
    const auto digits = text.find_first_of("0123456789", at);
    if (digits == std::string::npos) return 0;
    std::uint64_t value = 0;
    std::from_chars(text.data() + digits, text.data() + text.size(), value);
    return value * 1024;
}

}  // namespace

Finding check_qemu() {
    const auto said = run_checked({.argv = {kQemu, "--version"}}, {.timeout = std::chrono::seconds{20}});
    if (!said)
        return {"QEMU", Level::Fail, said.error().message, "install it: apt-get install qemu-system-x86"};
    const auto version = version_in(*said);
    if (version.empty())
        return {"QEMU", Level::Warn, fmt::format("{} does not say its version", kQemu), "reinstall it"};
    if (is_old(version))
        return {"QEMU", Level::Fail, version + " is too old",
                "Dormouse needs 7.2 or later (Debian 12 has it)"};
    return {"QEMU", Level::Ok, version, {}};
}

Finding check_tools() {
    struct Tool {
        const char* program;
        const char* package;
    };
    constexpr Tool kTools[] = {{"mmdebstrap", "mmdebstrap"},
                               {"mke2fs", "e2fsprogs"},
                               {"unshare", "util-linux"},
                               {"qemu-img", "qemu-utils"}};
    std::string missing;
    std::string packages;
    std::string all;
    for (const auto& tool : kTools) {
        all += fmt::format("{}{}", all.empty() ? "" : ", ", tool.program);
        if (in_path(tool.program)) continue;
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", tool.program);
        packages += fmt::format(" {}", tool.package);
    }
    if (missing.empty()) return {"tools", Level::Ok, all, {}};
    return {"tools", Level::Fail, "missing in PATH: " + missing,
            fmt::format("install: apt-get install{} (mke2fs may be in /usr/sbin)", packages)};
}

Finding check_disk(const Config& config) {
    // The nearest folder that exists.
    auto folder = config.home;
    std::error_code ignored;
    while (!fs::exists(folder, ignored) && folder.has_parent_path() && folder != folder.parent_path())
        folder = folder.parent_path();
    struct statvfs info {};
    if (::statvfs(folder.c_str(), &info) != 0)
        return {"free disk", Level::Warn, fail_errno(folder.string()).value().message, "look at that folder"};
    const auto available = std::uint64_t{info.f_bavail} * info.f_frsize;
    const auto text = fmt::format("{} at {}", human_size(available), folder.string());
    if (available >= kWarnDisk) return {"free disk", Level::Ok, text, {}};
    return {"free disk", available < kLeastDisk ? Level::Fail : Level::Warn, text,
            "make room, delete desktops, or set DORMOUSE_HOME to a larger disk"};
}

Finding check_memory() {
    const auto text = read_file("/proc/meminfo", 1 << 20);
    const auto available = text ? memory_value(*text, "MemAvailable:") : 0;
    if (available == 0) return {"memory", Level::Warn, "/proc/meminfo does not say", "mount /proc"};
    const auto shown =
        fmt::format("{} of {} free", human_size(available), human_size(memory_value(*text, "MemTotal:")));
    if (available >= kWarnMemory) return {"memory", Level::Ok, shown, {}};
    return {"memory", Level::Warn, shown, "a desktop may need 2 GiB: stop some, or end other programs"};
}

Finding check_machine_user() {
    if (::geteuid() != 0) return {"machine user", Level::Ok, "not root: machines run as you", {}};
    if (::getpwnam(kMachineUser)) return {"machine user", Level::Ok, kMachineUser, {}};
    return {
        "machine user", Level::Fail, fmt::format("there is no user {} to run machines as", kMachineUser),
        fmt::format(
            "run ./dormouse up, or: useradd --system --user-group --no-create-home --home-dir /nonexistent "
            "--shell /usr/sbin/nologin {}",
            kMachineUser)};
}

}  // namespace dormouse::cli::doctor

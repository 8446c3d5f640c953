// SPDX-License-Identifier: Apache-2.0
// Whether what lies in the state folder is encrypted where it lies: the memory
// of desktops is in there, with all that somebody has typed.
#include <algorithm>
#include <array>
#include <sstream>

#include "hostd/cli/doctor.h"

namespace dormouse::cli::doctor {

namespace fs = std::filesystem;

namespace {

constexpr int kDeepestStack = 8;  // of devices: partition, RAID, LVM, LUKS

struct Mount {
    std::string device;  // "253:0"
    std::string point;
    std::string type;
    std::string source;
};

// /proc/self/mountinfo writes a space in a path as \040.
std::string unescaped(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_escape = text[i] == '\\' && i + 3 < text.size();
        if (!is_escape) {
            out += text[i];
            continue;
        }
        out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
        i += 3;
    }
    return out;
}

bool is_below(const std::string& path, const std::string& point) {
    return point == "/" || path == point || (path.starts_with(point) && path[point.size()] == '/');
}

// The mount that `path` lies on: the last of the longest ones.
Mount mount_of(const std::string& mountinfo, const std::string& path) {
    Mount best;
    std::istringstream lines{mountinfo};
    for (std::string line; std::getline(lines, line);) {
        Mount mount;
        std::string skipped;
        std::istringstream fields{line};
        fields >> skipped >> skipped >> mount.device >> skipped >> mount.point;
        const auto dash = line.find(" - ");
        if (!fields || dash == std::string::npos) continue;
        std::istringstream rest{line.substr(dash + 3)};
        rest >> mount.type >> mount.source;
        mount.point = unescaped(mount.point);
        if (is_below(path, mount.point) && mount.point.size() >= best.point.size()) best = mount;
    }
    return best;
}

// Whether a block device, given by its folder in /sys, is dm-crypt or stands on such alone.
bool is_crypt(HostView& host, const fs::path& device, int depth = 0) {
    if (const auto uuid = host.read(device / "dm/uuid"); uuid && uuid->starts_with("CRYPT-")) return true;
    const auto below = host.list(device / "slaves");
    return depth < kDeepestStack && !below.empty() &&
           std::all_of(below.begin(), below.end(), [&](const fs::path& one) {
               const auto real = host.resolve(one);
               return !real.empty() && is_crypt(host, real, depth + 1);
           });
}

// btrfs and the like have a device number that is nobody's: then by the source's name.
fs::path block_device(HostView& host, const Mount& mount) {
    auto device = host.resolve(fs::path{"/sys/dev/block"} / mount.device);
    if (!device.empty() || !mount.source.starts_with("/dev/")) return device;
    const auto node = host.resolve(mount.source);
    return node.empty() ? fs::path{} : host.resolve(fs::path{"/sys/class/block"} / node.filename());
}

}  // namespace

Finding check_encryption(HostView& host, const Config& config) {
    const std::string check = "encryption";
    const auto folder = nearest_folder(host, config.home);
    if (host.is_encrypted_folder(folder))
        return {check, Level::Ok, fmt::format("{}: fscrypt", folder.string()), {}};
    const auto mounts = host.read("/proc/self/mountinfo");
    const auto mount = mounts ? mount_of(*mounts, folder.string()) : Mount{};
    constexpr std::array kEncrypting{"ecryptfs", "fuse.gocryptfs", "fuse.cryfs", "fuse.encfs"};
    if (std::find(kEncrypting.begin(), kEncrypting.end(), mount.type) != kEncrypting.end())
        return {check, Level::Ok, fmt::format("{}: {}", folder.string(), mount.type), {}};
    if (mount.type == "tmpfs")
        return {check, Level::Ok, folder.string() + " is in memory, not on a disk", {}};
    const auto device = block_device(host, mount);
    const std::string advice =
        "desktops' disks and memory can be read by whoever has the disk: lay the folder on LUKS or fscrypt";
    if (device.empty())
        return {check, Level::Warn,
                fmt::format("{}: cannot tell what {} lies on", folder.string(),
                            mount.type.empty() ? "it" : mount.type),
                advice};
    if (is_crypt(host, device))
        return {check, Level::Ok, fmt::format("{}: dm-crypt on {}", folder.string(), mount.source), {}};
    return {check, Level::Warn,
            fmt::format("{} lies on {}, which is not encrypted", folder.string(), mount.source), advice};
}

}  // namespace dormouse::cli::doctor

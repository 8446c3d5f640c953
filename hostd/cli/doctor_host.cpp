// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>

#include <algorithm>
#include <array>
#include <charconv>

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
// This was written then: a clock that shows less is wrong.
constexpr auto kEarliest = WallTime{std::chrono::sys_days{std::chrono::year{2025} / 1 / 1}};
// File times and the clock may differ a little, over a network file system for one.
constexpr auto kClockSlack = std::chrono::minutes{2};

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

bool has_line(const std::string& text, std::string_view line) {
    for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) {
        const auto end = at + line.size();
        if ((at == 0 || text[at - 1] == '\n') &&
            (end == text.size() || text[end] == '\n' || text[end] == '\r'))
            return true;
    }
    return false;
}

}  // namespace

// "QEMU emulator version 7.2.15 (Debian ...)": the number.
std::string qemu_version(const std::string& said) {
    constexpr std::string_view kMark = "version ";
    const auto at = said.find(kMark);
    if (at == std::string::npos) return {};
    const auto begin = at + kMark.size();
    return said.substr(begin, said.find_first_not_of("0123456789.", begin) - begin);
}

Finding check_qemu(HostView& host) {
    const auto said = host.run({kQemu, "--version"});
    if (!said)
        return {"QEMU", Level::Fail, said.error().message, "install it: apt-get install qemu-system-x86"};
    const auto version = qemu_version(*said);
    if (version.empty())
        return {"QEMU", Level::Warn, fmt::format("{} does not say its version", kQemu), "reinstall it"};
    if (is_old(version))
        return {"QEMU", Level::Fail, version + " is too old",
                "Dormouse needs 7.2 or later (Debian 12 has it)"};
    return {"QEMU", Level::Ok, version, {}};
}

Finding check_qemu_devices(HostView& host) {
    const std::string check = "QEMU devices";
    const auto displays = host.run({kQemu, "-display", "help"});
    const auto devices = host.run({kQemu, "-device", "help"});
    if (!displays || !devices)
        return {check, Level::Fail, (displays ? devices : displays).error().message,
                "install it: apt-get install qemu-system-x86 qemu-system-common"};
    std::string missing;
    const auto lacks = [&](std::string_view what) {
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", what);
    };
    constexpr std::array kDevices{"virtio-vga",          "virtio-gpu-pci",    "virtio-tablet-pci",
                                  "virtio-keyboard-pci", "virtio-serial-pci", "virtio-blk-pci",
                                  "virtio-net-pci",      "virtio-rng-pci",    "vmgenid"};
    for (const std::string_view device : kDevices)
        if (devices->find(fmt::format("\"{}\"", device)) == std::string::npos) lacks(device);
    const std::string install =
        "install what belongs to it: apt-get install qemu-system-x86 qemu-system-common";
    if (!missing.empty()) return {check, Level::Fail, "this QEMU lacks " + missing, install};
    if (has_line(*displays, "dbus"))
        return {check, Level::Ok, "D-Bus display, virtio screen, keyboard, tablet, disk, network", {}};
    return {check, Level::Warn, "this QEMU lacks the D-Bus display: pictures come over VNC, which is slower",
            install};
}

Finding check_tools(HostView& host) {
    struct Tool {
        const char* program;
        const char* package;
    };
    constexpr Tool kTools[] = {
        {"mmdebstrap", "mmdebstrap"}, {"mke2fs", "e2fsprogs"}, {"unshare", "util-linux"},
        {"setpriv", "util-linux"},    {"perl", "perl"},        {"qemu-img", "qemu-utils"}};
    std::string missing;
    std::string packages;
    std::string all;
    for (const auto& tool : kTools) {
        all += fmt::format("{}{}", all.empty() ? "" : ", ", tool.program);
        // mke2fs is in /usr/sbin, which users do not search.
        if (host.in_path(tool.program) || host.look(fs::path{"/usr/sbin"} / tool.program)) continue;
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", tool.program);
        packages += fmt::format(" {}", tool.package);
    }
    if (missing.empty()) return {"tools", Level::Ok, all, {}};
    return {"tools", Level::Fail, "missing in PATH: " + missing,
            fmt::format("install: apt-get install{}", packages)};
}

Finding check_disk(HostView& host, const std::string& check, const fs::path& folder) {
    const auto existing = nearest_folder(host, folder);
    const auto available = host.free_bytes(existing);
    if (!available) return {check, Level::Warn, available.error().message, "look at that folder"};
    const auto text = fmt::format("{} at {}", human_size(*available), existing.string());
    if (*available >= kWarnDisk) return {check, Level::Ok, text, {}};
    return {check, *available < kLeastDisk ? Level::Fail : Level::Warn, text,
            "make room, delete desktops, or set DORMOUSE_HOME to a larger disk"};
}

Finding check_memory(HostView& host) {
    const auto text = host.read("/proc/meminfo");
    const auto available = text ? memory_value(*text, "MemAvailable:") : 0;
    if (available == 0) return {"memory", Level::Warn, "/proc/meminfo does not say", "mount /proc"};
    const auto shown =
        fmt::format("{} of {} free", human_size(available), human_size(memory_value(*text, "MemTotal:")));
    if (available >= kWarnMemory) return {"memory", Level::Ok, shown, {}};
    return {"memory", Level::Warn, shown, "a desktop may need 2 GiB: stop some, or end other programs"};
}

Finding check_machine_user(HostView& host) {
    if (host.uid() != 0) return {"machine user", Level::Ok, "not root: machines run as you", {}};
    if (host.has_user(kMachineUser)) return {"machine user", Level::Ok, kMachineUser, {}};
    return {
        "machine user", Level::Fail, fmt::format("there is no user {} to run machines as", kMachineUser),
        fmt::format(
            "run ./dormouse up, or: useradd --system --user-group --no-create-home --home-dir /nonexistent "
            "--shell /usr/sbin/nologin {}",
            kMachineUser)};
}

// Desktops take their time from here at every start.
Finding check_clock(HostView& host, const Config& config) {
    const std::string check = "clock";
    const auto now = host.now();
    const auto shown = fmt::format(
        "{:%Y-%m-%d %H:%M:%S} UTC",
        fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(now))));
    const std::string advice = "set it: timedatectl set-ntp true, or install an NTP client";
    if (now < kEarliest) return {check, Level::Fail, shown + " cannot be", advice};
    for (const auto& file : {config.database(), config.daemon_log()}) {
        const auto facts = host.look(file);
        if (facts && facts->changed > now + kClockSlack)
            return {check, Level::Warn,
                    fmt::format("{}, but {} was written later than that", shown, file.string()),
                    "the clock has gone back; " + advice};
    }
    const auto source = host.read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if (!source) return {check, Level::Ok, shown, {}};
    auto name = *source;
    while (!name.empty() && name.back() == '\n') name.pop_back();
    return {check, Level::Ok, fmt::format("{}, from {}", shown, name), {}};
}

}  // namespace dormouse::cli::doctor

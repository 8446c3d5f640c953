// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/bake_room.h"

#include <sys/statvfs.h>

#include <charconv>
#include <limits>

#include "hostd/base/file.h"

namespace dormouse::desktop {

namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;
constexpr std::uint64_t kGiB = 1ULL << 30;
constexpr std::uint64_t kPackagesTar = 2 * kGiB;  // of the built-in recipe: 1.8
constexpr std::uint64_t kDisk = 3 * kGiB;         // likewise, with what its first boot writes: 2.2
constexpr std::uint64_t kQemuItself = 300 * kMiB;

std::string gib(std::uint64_t bytes) {
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(kGiB));
}

}  // namespace

BakeNeeds bake_needs(const Recipe& recipe, bool packages_are_there) {
    const auto ram = static_cast<std::uint64_t>(recipe.memory_mib) * kMiB;
    // A guest touches a part of its memory while it boots; the rest stays a hole.
    const auto touched = std::min<std::uint64_t>(ram, kGiB + kGiB / 2);
    return {.disk = kDisk + touched + (packages_are_there ? 0 : kPackagesTar),
            .memory = touched + kQemuItself};
}

HostRoom look_at_room(const std::filesystem::path& templates) {
    HostRoom room{.disk = std::numeric_limits<std::uint64_t>::max(),
                  .memory = std::numeric_limits<std::uint64_t>::max()};
    struct statvfs info {};
    if (::statvfs(templates.c_str(), &info) == 0) room.disk = std::uint64_t{info.f_bavail} * info.f_frsize;
    const auto text = read_file("/proc/meminfo", 1 << 20);
    if (const auto memory = text ? available_memory(*text) : 0; memory > 0) room.memory = memory;
    return room;
}

Result<> check_room(const BakeNeeds& needs, const HostRoom& room) {
    if (room.disk < needs.disk)
        return fail(Errc::Unavailable,
                    fmt::format("a bake needs {} of free disk for the templates, and there are {}",
                                gib(needs.disk), gib(room.disk)),
                    "make room, or remove templates: ./dormouse template list");
    if (room.memory < needs.memory)
        return fail(
            Errc::Unavailable,
            fmt::format("a bake boots the template once and needs {} of memory for that, and there are {}",
                        gib(needs.memory), gib(room.memory)),
            "stop some desktops first: ./dormouse stop NAME");
    return {};
}

std::uint64_t available_memory(std::string_view meminfo) {
    constexpr std::string_view kName = "MemAvailable:";
    const auto at = meminfo.find(kName);
    if (at == std::string_view::npos) return 0;
    const auto digits = meminfo.find_first_of("0123456789", at + kName.size());
    if (digits == std::string_view::npos) return 0;
    std::uint64_t kib = 0;
    std::from_chars(meminfo.data() + digits, meminfo.data() + meminfo.size(), kib);
    return kib * 1024;
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "hostd/base/result.h"
#include "hostd/desktop/recipe.h"

namespace dormouse::desktop {

// What a bake of this recipe takes at most while it runs, in bytes; roughly, as
// measured with the built-in recipe.
struct BakeNeeds {
    std::uint64_t disk = 0;
    std::uint64_t memory = 0;
};
BakeNeeds bake_needs(const Recipe& recipe, bool packages_are_there);

struct HostRoom {
    std::uint64_t disk = 0;    // free where the templates are
    std::uint64_t memory = 0;  // available; the largest number where the host does not say
};
HostRoom look_at_room(const std::filesystem::path& templates);

// Errc::Unavailable that says how much is needed and how much there is.
Result<> check_room(const BakeNeeds& needs, const HostRoom& room);

// "MemAvailable" of /proc/meminfo in bytes; 0 when it is not in there.
std::uint64_t available_memory(std::string_view meminfo);

}  // namespace dormouse::desktop

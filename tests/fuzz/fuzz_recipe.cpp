// SPDX-License-Identifier: Apache-2.0
// A recipe that somebody wrote: any text gives a recipe or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hostd/desktop/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto recipe = dormouse::desktop::parse_recipe(text, "/source");
    if (recipe && recipe->memory_mib < 512) __builtin_trap();
    return 0;
}

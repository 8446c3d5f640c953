// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/bake_room.h"

#include <gmock/gmock.h>

namespace dormouse::desktop {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kGiB = 1ULL << 30;

TEST(BakeRoom, IsEnoughOrSaysHowMuchIsMissing) {
    const Recipe recipe{.name = TemplateName::parse("mine").value(), .memory_mib = 1024};
    const auto needs = bake_needs(recipe, true);
    EXPECT_TRUE(check_room(needs, {.disk = needs.disk, .memory = needs.memory}));
    const auto disk = check_room(needs, {.disk = kGiB, .memory = 64 * kGiB});
    ASSERT_FALSE(disk);
    EXPECT_EQ(disk.error().code, Errc::Unavailable);
    EXPECT_THAT(disk.error().message,
                HasSubstr("4.0 GiB of free disk for the templates, and there are 1.0 GiB"));
    const auto memory = check_room(needs, {.disk = 64 * kGiB, .memory = kGiB});
    ASSERT_FALSE(memory);
    EXPECT_THAT(memory.error().hint, HasSubstr("dormouse stop"));
}

TEST(BakeRoom, IsMoreWhereThePackagesAreFetchedToo) {
    const Recipe recipe{.name = TemplateName::parse("mine").value()};
    EXPECT_GT(bake_needs(recipe, false).disk, bake_needs(recipe, true).disk);
}

TEST(BakeRoom, MemoryIsReadFromWhatTheKernelSays) {
    EXPECT_EQ(available_memory("MemTotal: 4 kB\nMemAvailable:    2048 kB\n"), 2048u * 1024);
    for (const char* text : {"", "MemAvailable:", "MemAvailable: kB", "MemFree: 3 kB"})
        EXPECT_EQ(available_memory(text), 0u) << text;
}

}  // namespace
}  // namespace dormouse::desktop

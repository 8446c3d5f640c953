// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/name_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::net {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Address kOne = address(192, 0, 2, 1);
const Address kTwo = address(192, 0, 2, 2);

TEST(NameCache, KnowsANameForItsTime) {
    ManualClock clock;
    NameCache cache{clock};
    cache.remember("a", {kOne, kTwo}, 60s);
    clock.advance(20s);
    EXPECT_THAT(cache.find("a")->addresses, ElementsAre(kOne, kTwo));
    EXPECT_EQ(cache.find("a")->lifetime, 40s);
    clock.advance(40s);
    EXPECT_FALSE(cache.find("a"));
    EXPECT_FALSE(cache.find("b"));
}

TEST(NameCache, TellsNamesOfAddressesThatWereToldAlsoAfterThat) {
    ManualClock clock;
    NameCache cache{clock};
    cache.remember("a", {kOne, kTwo}, 1s);
    cache.told("a", kOne);
    cache.remember("b", {kOne}, 1s);
    cache.told("b", kOne);
    EXPECT_THAT(cache.names_of(kOne), ElementsAre("b", "a"));
    EXPECT_THAT(cache.names_of(kTwo), IsEmpty());
    clock.advance(1h);
    cache.remember("a", {kTwo}, 1s);
    cache.told("a", kTwo);
    EXPECT_THAT(cache.names_of(kOne), ElementsAre("b", "a")) << "programs keep addresses";
    cache.told("a", kOne);
    EXPECT_THAT(cache.names_of(kOne), ElementsAre("a", "b"));
}

TEST(NameCache, ForgetsTheNamesNotAskedForLongest) {
    ManualClock clock;
    NameCache cache{clock};
    for (std::size_t i = 0; i < NameCache::kMostNames; ++i) {
        cache.remember("n" + std::to_string(i), {kOne}, 1h);
        cache.told("n" + std::to_string(i), kOne);
    }
    EXPECT_TRUE(cache.find("n0"));
    cache.remember("more", {kTwo}, 1h);
    EXPECT_TRUE(cache.find("n0"));
    EXPECT_FALSE(cache.find("n1"));
    EXPECT_EQ(cache.names_of(kOne).size(), NameCache::kMostNames - 1);
}

TEST(NameCache, BoundsTheAddressesOfAName) {
    ManualClock clock;
    NameCache cache{clock};
    cache.remember("a", std::vector<Address>(100, kOne), 1h);
    EXPECT_EQ(cache.find("a")->addresses.size(), NameCache::kMostAddresses);
    for (std::uint32_t i = 1; i <= 100; ++i) cache.told("a", Address{i});
    EXPECT_THAT(cache.names_of(Address{100}), ElementsAre("a"));
    EXPECT_THAT(cache.names_of(Address{1}), IsEmpty());
}

}  // namespace
}  // namespace dormouse::net

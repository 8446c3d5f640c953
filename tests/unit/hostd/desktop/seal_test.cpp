// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/seal.h"

#include <gtest/gtest.h>

#include "hostd/desktop/tokens.h"

namespace dormouse::desktop {
namespace {

TEST(Seal, OpensForTheSameTokenOnly) {
    const auto sealed = seal(seal_key("dm_one"), "the answer");
    EXPECT_EQ(sealed.find("answer"), std::string::npos);
    EXPECT_EQ(*unseal(seal_key("dm_one"), sealed), "the answer");
    EXPECT_EQ(unseal(seal_key("dm_two"), sealed).error().code, Errc::Corrupt);
    EXPECT_NE(seal(seal_key("dm_one"), "the answer"), sealed) << "each time anew";
    EXPECT_EQ(*unseal(seal_key("a"), seal(seal_key("a"), "")), "");
}

TEST(Seal, RefusesWhatWasChangedOrCutOff) {
    auto sealed = seal(seal_key("dm_one"), "the answer");
    EXPECT_FALSE(unseal(seal_key("dm_one"), sealed.substr(0, 30)));
    EXPECT_FALSE(unseal(seal_key("dm_one"), ""));
    EXPECT_FALSE(unseal(Secret{""}, sealed));
    sealed.back() = static_cast<char>(sealed.back() ^ 1);
    EXPECT_FALSE(unseal(seal_key("dm_one"), sealed));
}

TEST(Seal, ItsKeyIsNotWhatTheDatabaseHolds) {
    EXPECT_NE(seal_key("dm_one").reveal_for_transport(), hash_token_secret("dm_one"));
}

}  // namespace
}  // namespace dormouse::desktop

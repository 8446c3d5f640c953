// SPDX-License-Identifier: Apache-2.0
#include "db/idempotency_store.h"

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace dormouse::db {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNoon{1'700'000'000'000ms};

IdempotencyRow row(const std::string& token, const std::string& key, WallTime at = kNoon) {
    return {.token = token,
            .key = key,
            .fingerprint = std::string{"\0\xff", 2},
            .made = {},
            .answer = {},
            .created_at = at};
}

class IdempotencyStoreTest : public testing::Test {
  protected:
    TemporaryFolder folder;
    std::unique_ptr<Database> database = std::move(*Database::open(folder / "dormouse.db"));
    IdempotencyStore store = std::move(*IdempotencyStore::open(*database));
};

TEST_F(IdempotencyStoreTest, TheFirstClaimWinsAndOthersSeeIt) {
    EXPECT_FALSE(store.claim(row("t-1", "k"), kNoon - 24h)->has_value());
    EXPECT_EQ(**store.claim(row("t-1", "k", kNoon + 1s), kNoon - 24h), row("t-1", "k"));
    EXPECT_FALSE(store.claim(row("t-2", "k"), kNoon - 24h)->has_value()) << "another token, another key";
    ASSERT_TRUE(store.set_made("t-1", "k", "d-1"));
    ASSERT_TRUE(store.set_answer("t-1", "k", std::string_view{"\0sealed", 7}));
    const auto known = **store.claim(row("t-1", "k"), kNoon - 24h);
    EXPECT_EQ(known.made, "d-1");
    EXPECT_EQ(known.answer, std::string("\0sealed", 7));
}

TEST_F(IdempotencyStoreTest, AnOldOneIsAsNew) {
    ASSERT_TRUE(store.claim(row("t-1", "k"), kNoon - 24h));
    ASSERT_TRUE(store.set_answer("t-1", "k", "old"));
    EXPECT_FALSE(store.claim(row("t-1", "k", kNoon + 25h), kNoon + 1h)->has_value());
    EXPECT_FALSE((**store.claim(row("t-1", "k"), kNoon)).answer);
}

TEST_F(IdempotencyStoreTest, ForgetsByKeyTokenAndAgeAndListsTheUnanswered) {
    for (const auto* key : {"a", "b", "c"}) ASSERT_TRUE(store.claim(row("t-1", key), kNoon - 24h));
    ASSERT_TRUE(store.claim(row("t-2", "a", kNoon - 23h), kNoon - 24h));
    ASSERT_TRUE(store.set_answer("t-1", "a", "x"));
    ASSERT_TRUE(store.remove("t-1", "b"));
    EXPECT_EQ(store.unanswered()->size(), 2u);
    ASSERT_TRUE(store.remove_old(kNoon - 1h));
    EXPECT_EQ(store.unanswered()->size(), 1u);
    ASSERT_TRUE(store.remove_token("t-1"));
    EXPECT_TRUE(store.unanswered()->empty());
    EXPECT_TRUE(store.set_answer("t-1", "gone", "x"));
}

}  // namespace
}  // namespace dormouse::db

// SPDX-License-Identifier: Apache-2.0
#include "db/token_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace dormouse::db {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNoon{1'700'000'000'000ms};

TokenRow token(const std::string& id, const std::string& scope, const std::string& hash) {
    return {.id = *TokenId::parse(id),
            .name = "name of " + id,
            .scope = scope,
            .hash = hash,
            .created_at = kNoon,
            .last_used_at = {}};
}

class TokenStoreTest : public testing::Test {
  protected:
    TemporaryFolder folder;
    std::unique_ptr<Database> database = std::move(*Database::open(folder / "dormouse.db"));
    TokenStore store = std::move(*TokenStore::open(*database));
};

TEST_F(TokenStoreTest, FindsByTheBytesOfTheHash) {
    const auto one = token("t-1", "admin", std::string{"\0\xff\x01 bytes", 9});
    const auto two = token("t-2", "agent", std::string{"\0\xff\x02 bytes", 9});
    ASSERT_TRUE(store.insert(one));
    ASSERT_TRUE(store.insert(two));
    EXPECT_EQ(*store.find_by_hash(two.hash), two);
    EXPECT_FALSE(store.find_by_hash(std::string_view{"\0", 1})->has_value());
    EXPECT_FALSE(store.find_by_hash("")->has_value());
}

TEST_F(TokenStoreTest, ListsTheOldestFirst) {
    auto late = token("t-1", "agent", "h1");
    late.created_at = kNoon + 1s;
    ASSERT_TRUE(store.insert(late));
    ASSERT_TRUE(store.insert(token("t-2", "admin", "h2")));
    const auto rows = *store.list();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].id.str(), "t-2");
    EXPECT_EQ(rows[1], late);
}

TEST_F(TokenStoreTest, RefusesASecondOneWithTheSameIdOrHash) {
    ASSERT_TRUE(store.insert(token("t-1", "agent", "h1")));
    EXPECT_EQ(store.insert(token("t-1", "agent", "h2")).error().code, Errc::Conflict);
    EXPECT_EQ(store.insert(token("t-2", "agent", "h1")).error().code, Errc::Conflict);
}

TEST_F(TokenStoreTest, DoesNotRemoveTheLastAdminToken) {
    ASSERT_TRUE(store.insert(token("t-1", "admin", "h1")));
    ASSERT_TRUE(store.insert(token("t-2", "agent", "h2")));
    const auto refused = store.remove(*TokenId::parse("t-1"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Conflict);
    EXPECT_FALSE(refused.error().hint.empty());
    EXPECT_TRUE(store.find_by_hash("h1")->has_value());

    ASSERT_TRUE(store.insert(token("t-3", "admin", "h3")));
    EXPECT_TRUE(store.remove(*TokenId::parse("t-1")));
    EXPECT_TRUE(store.remove(*TokenId::parse("t-2")));
    EXPECT_EQ(store.remove(*TokenId::parse("t-3")).error().code, Errc::Conflict);
    EXPECT_EQ(store.remove(*TokenId::parse("t-2")).error().code, Errc::NotFound);
}

TEST_F(TokenStoreTest, RemembersAUseAtMostOnceAMinute) {
    const auto id = *TokenId::parse("t-1");
    const auto last_used = [&] { return (*store.find_by_hash("h1"))->last_used_at; };
    ASSERT_TRUE(store.insert(token("t-1", "agent", "h1")));
    EXPECT_FALSE(last_used());
    ASSERT_TRUE(store.touch(id, kNoon));
    EXPECT_EQ(last_used(), kNoon);
    ASSERT_TRUE(store.touch(id, kNoon + 59s));
    EXPECT_EQ(last_used(), kNoon);
    ASSERT_TRUE(store.touch(id, kNoon + 60s));
    EXPECT_EQ(last_used(), kNoon + 60s);
}

TEST_F(TokenStoreTest, OverwritesAUseThatAWrongClockPutIntoTheFuture) {
    const auto id = *TokenId::parse("t-1");
    ASSERT_TRUE(store.insert(token("t-1", "agent", "h1")));
    ASSERT_TRUE(store.touch(id, kNoon + 24h));
    ASSERT_TRUE(store.touch(id, kNoon));
    EXPECT_EQ((*store.find_by_hash("h1"))->last_used_at, kNoon);
    EXPECT_TRUE(store.touch(*TokenId::parse("gone"), kNoon));
}

}  // namespace
}  // namespace dormouse::db

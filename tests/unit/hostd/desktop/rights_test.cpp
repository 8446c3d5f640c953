// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/rights.h"

#include <gtest/gtest.h>

namespace dormouse::desktop {
namespace {

using enum CommandGroup;

TEST(Rights, EachScopeHasItsGroups) {
    for (const auto group : {Look, Act, Exec, Create, Lifecycle, Delete, Network, Templates, Admin}) {
        EXPECT_TRUE(allows(Scope::Admin, {}, group));
        EXPECT_EQ(allows(Scope::Agent, {}, group), group != Admin && group != Templates) << group_name(group);
        EXPECT_EQ(allows(Scope::Viewer, {}, group), group == Look) << group_name(group);
    }
}

TEST(Rights, GroupsThatATokenNamesAreAllItHas) {
    TokenLimits limits;
    limits.groups = {Look, Templates};
    EXPECT_TRUE(allows(Scope::Agent, limits, Look));
    EXPECT_TRUE(allows(Scope::Agent, limits, Templates));
    EXPECT_FALSE(allows(Scope::Agent, limits, Act));
    EXPECT_FALSE(allows(Scope::Agent, limits, Admin));
    limits.groups = {Act};
    EXPECT_FALSE(allows(Scope::Viewer, limits, Act));
}

TEST(Rights, ATokenSeesItsDesktopsByNameIdOrLabel) {
    EXPECT_TRUE(sees({}, "d-1", "shop", {}));
    TokenLimits named;
    named.desktops = {"shop", "d-2"};
    EXPECT_TRUE(sees(named, "d-1", "shop", {}));
    EXPECT_TRUE(sees(named, "d-2", "mail", {}));
    EXPECT_FALSE(sees(named, "d-3", "mail", {}));
    TokenLimits labelled;
    labelled.label = LabelFilter{"team", "a"};
    EXPECT_TRUE(sees(labelled, "d-1", "shop", {{"team", "a"}}));
    EXPECT_FALSE(sees(labelled, "d-1", "shop", {{"team", "b"}}));
    EXPECT_FALSE(sees(labelled, "d-1", "shop", {}));
}

TEST(Rights, LimitsThatMakeNoSenseAreRefused) {
    const auto refused = [](Scope scope, const TokenLimits& limits) { return !check_limits(scope, limits); };
    TokenLimits named;
    named.desktops = {"shop"};
    TokenLimits labelled;
    labelled.label = LabelFilter{"team", "a"};
    TokenLimits both = named;
    both.label = labelled.label;
    TokenLimits acting;
    acting.groups = {Act};
    TokenLimits building = named;
    building.groups = {Templates};
    TokenLimits valueless;
    valueless.label = LabelFilter{"team", {}};
    EXPECT_FALSE(refused(Scope::Admin, {}));
    EXPECT_FALSE(refused(Scope::Agent, named));
    EXPECT_FALSE(refused(Scope::Viewer, labelled));
    EXPECT_FALSE(refused(Scope::Agent, acting));
    EXPECT_TRUE(refused(Scope::Admin, named));
    EXPECT_TRUE(refused(Scope::Admin, acting));
    EXPECT_TRUE(refused(Scope::Agent, both));
    EXPECT_TRUE(refused(Scope::Agent, valueless));
    EXPECT_TRUE(refused(Scope::Agent, building));
    EXPECT_TRUE(refused(Scope::Viewer, acting));
}

TEST(Rights, GroupsHaveTheirNames) {
    for (const auto group : {Look, Act, Exec, Create, Lifecycle, Delete, Network, Templates})
        EXPECT_EQ(*parse_group(group_name(group)), group);
    EXPECT_FALSE(parse_group("admin")) << "cannot be given";
    EXPECT_FALSE(parse_group("fly"));
}

}  // namespace
}  // namespace dormouse::desktop

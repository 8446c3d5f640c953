// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace dormouse::desktop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<State> kAllStates{State::Creating, State::Running, State::Starting, State::Stopping,
                                    State::Stopped,  State::Failed,  State::Deleting};

std::vector<Command> all_commands() {
    return {CreateDesktop{std::nullopt, *TemplateName::parse("desktop")},
            ListDesktops{},
            GetDesktop{"d"},
            DeleteDesktop{"d"},
            StartDesktop{"d"},
            StopDesktop{"d"},
            RestartDesktop{"d"},
            UpdateDesktop{.desktop = "d"},
            ListDestinations{"d"},
            TakeScreenshot{"d"},
            Act{"d", {}},
            RunProgram{.desktop = "d"},
            ListOperations{},
            GetOperation{*OperationId::parse("op-1"), {}},
            CancelOperation{*OperationId::parse("op-1")},
            GetOperationLog{*OperationId::parse("op-1"), 0},
            ListTemplates{},
            GetTemplate{*TemplateName::parse("t")},
            BuildTemplate{"", {}},
            DeleteTemplate{*TemplateName::parse("t")},
            GetTemplateLog{*TemplateName::parse("t"), 0},
            CreateToken{"t", Scope::Agent},
            ListTokens{},
            DeleteToken{*TokenId::parse("t")},
            ListAudit{}};
}

std::vector<std::string> legal_states(const Command& command) {
    std::vector<std::string> names;
    for (const auto state : kAllStates)
        if (legal(command, state)) names.emplace_back(state_name(state));
    return names;
}

TEST(Commands, TheTestListHasThemAllUnderNamesOfTheirOwn) {
    std::set<std::string_view> names;
    std::set<std::size_t> kinds;
    for (const auto& command : all_commands()) {
        names.insert(command_name(command));
        kinds.insert(command.index());
    }
    EXPECT_EQ(kinds.size(), std::variant_size_v<Command>);
    EXPECT_EQ(names.size(), std::variant_size_v<Command>);
    EXPECT_EQ(command_name(StopDesktop{"d"}), "desktop.stop");
    EXPECT_EQ(command_name(ListTokens{}), "token.list");
}

TEST(Commands, AgentsUseDesktopsAndViewersLook) {
    for (const auto& command : all_commands()) {
        EXPECT_TRUE(allowed(command, Scope::Admin)) << command_name(command);
        const auto group = traits_of(command).group;
        const bool for_admins = group == CommandGroup::Admin || group == CommandGroup::Templates;
        EXPECT_EQ(allowed(command, Scope::Agent), !for_admins) << command_name(command);
        EXPECT_EQ(allowed(command, Scope::Viewer), traits_of(command).group == CommandGroup::Look)
            << command_name(command);
    }
}

TEST(Commands, EachIsLegalInItsStates) {
    EXPECT_THAT(legal_states(Act{"d", {}}), ElementsAre("running"));
    EXPECT_THAT(legal_states(RunProgram{.desktop = "d"}), ElementsAre("running"));
    EXPECT_THAT(legal_states(TakeScreenshot{"d"}), ElementsAre("running", "starting", "stopping"));
    EXPECT_THAT(legal_states(StartDesktop{"d"}), ElementsAre("running", "starting", "stopped", "failed"));
    EXPECT_THAT(legal_states(StopDesktop{"d"}),
                ElementsAre("running", "starting", "stopping", "stopped", "failed"));
    EXPECT_THAT(legal_states(RestartDesktop{"d"}), ElementsAre("running", "stopped", "failed"));
    EXPECT_THAT(legal_states(DeleteDesktop{"d"}),
                ElementsAre("creating", "running", "starting", "stopping", "stopped", "failed"));
}

TEST(Commands, ChangingTheNetworkNeedsItsGroup) {
    TokenLimits limits;
    UpdateDesktop update{.desktop = "d"};
    update.network = net::Mode::None;
    limits.groups = {CommandGroup::Lifecycle};
    EXPECT_FALSE(allowed(update, Scope::Agent, limits));
    limits.groups = {CommandGroup::Network};
    EXPECT_TRUE(allowed(update, Scope::Agent, limits));
    update.labels.emplace("a", "b");
    EXPECT_FALSE(allowed(update, Scope::Agent, limits)) << "and the rest needs the other";
    limits.groups.insert(CommandGroup::Lifecycle);
    EXPECT_TRUE(allowed(update, Scope::Agent, limits));
}

TEST(Commands, ThoseThatOnlyLookAreAlwaysLegal) {
    for (const Command& command : {Command{ListDesktops{}}, Command{GetDesktop{"d"}}, Command{ListTokens{}}})
        EXPECT_THAT(legal_states(command), testing::SizeIs(kAllStates.size())) << command_name(command);
}

TEST(Actions, HaveTheNamesUnderWhichTheyAreAskedFor) {
    EXPECT_EQ(action_name(ScreenshotAction{}), "screenshot");
    EXPECT_EQ(action_name(ClickAction{Button::Left, 1, {}}), "left_click");
    EXPECT_EQ(action_name(ClickAction{Button::Right, 1, {}}), "right_click");
    EXPECT_EQ(action_name(ClickAction{Button::Middle, 1, {}}), "middle_click");
    EXPECT_EQ(action_name(ClickAction{Button::Left, 2, {}}), "double_click");
    EXPECT_EQ(action_name(ClickAction{Button::Left, 3, {}}), "triple_click");
    EXPECT_EQ(action_name(MoveAction{{1, 2}}), "mouse_move");
    EXPECT_EQ(action_name(ClickAction{Button::Back, 1, {}}), "back_click");
    EXPECT_EQ(action_name(ClickAction{Button::Forward, 1, {}}), "forward_click");
    EXPECT_EQ(action_name(DragAction{Point{1, 2}, {{3, 4}}}), "left_click_drag");
    EXPECT_EQ(action_name(LeftButtonAction{true, {}}), "left_mouse_down");
    EXPECT_EQ(action_name(LeftButtonAction{false, {}}), "left_mouse_up");
    EXPECT_EQ(action_name(CursorAction{}), "cursor_position");
    EXPECT_EQ(action_name(ZoomAction{}), "zoom");
    EXPECT_EQ(action_name(HoldKeyAction{"a", {}}), "hold_key");
    EXPECT_EQ(action_name(ScrollAction{}), "scroll");
    EXPECT_EQ(action_name(KeyAction{"Return"}), "key");
    EXPECT_EQ(action_name(TypeAction{"x"}), "type");
    EXPECT_EQ(action_name(WaitAction{}), "wait");
}

}  // namespace
}  // namespace dormouse::desktop

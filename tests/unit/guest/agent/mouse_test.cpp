// SPDX-License-Identifier: Apache-2.0
// The agent's mouse on a real X server, as another program's window sees it.
#include "guest/agent/mouse.h"

#include <gmock/gmock.h>
#include <xcb/xtest.h>

#include "x_fixture.h"

namespace dormouse::agent {
namespace {

using nlohmann::json;
using testing::ElementsAre;

class MouseTest : public XTest {
  protected:
    void SetUp() override {
        XTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        other = *XConnection::connect(display);
        window = xcb_generate_id(other->get());
        const std::array<std::uint32_t, 2> values{
            1, XCB_EVENT_MASK_BUTTON_PRESS | XCB_EVENT_MASK_BUTTON_RELEASE};
        xcb_create_window(other->get(), XCB_COPY_FROM_PARENT, window, other->root(), 100, 100, 400, 300, 0,
                          XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT,
                          XCB_CW_OVERRIDE_REDIRECT | XCB_CW_EVENT_MASK, values.data());
        xcb_map_window(other->get(), window);
        settle(*other);
    }
    void warp(int x, int y) {
        xcb_warp_pointer(other->get(), XCB_NONE, other->root(), 0, 0, 0, 0, static_cast<std::int16_t>(x),
                         static_cast<std::int16_t>(y));
        settle(*other);
    }
    void key(std::uint8_t code, bool down) {
        xcb_test_fake_input(other->get(), down ? XCB_KEY_PRESS : XCB_KEY_RELEASE, code, XCB_CURRENT_TIME,
                            XCB_NONE, 0, 0, 0);
        settle(*other);
    }
    // What the window has seen: "5 at 20,30" of presses; "+1" for modifiers.
    std::vector<std::string> presses() {
        settle(*other);
        std::vector<std::string> seen;
        while (const auto event = other->next_event()) {
            if (event->response_type != XCB_BUTTON_PRESS) continue;
            const auto& press = reinterpret_cast<const xcb_button_press_event_t&>(*event);
            auto word = fmt::format("{} at {},{}", press.detail, press.event_x, press.event_y);
            if ((press.state & 0xff) != 0) word += fmt::format("+{}", press.state & 0xff);
            seen.push_back(std::move(word));
        }
        return seen;
    }

    std::unique_ptr<XConnection> other;
    xcb_window_t window = XCB_NONE;
};

constexpr std::uint8_t kShiftCode = 50;

TEST_F(MouseTest, TellsWhereThePointerIs) {
    warp(640, 400);
    EXPECT_EQ(call("pointer").value(), (json{{"x", 640}, {"y", 400}}));
    warp(0, 0);
    EXPECT_EQ(call("pointer").value(), (json{{"x", 0}, {"y", 0}}));
}

TEST_F(MouseTest, TurnsTheWheelEachWayByTheExactAmount) {
    warp(120, 130);
    const std::pair<const char*, int> ways[] = {{"up", 4}, {"down", 5}, {"left", 6}, {"right", 7}};
    for (const auto& [direction, button] : ways) {
        const auto turned = call("wheel", {{"direction", direction}, {"amount", 3}});
        ASSERT_TRUE(turned) << turned.error().message;
        EXPECT_EQ(*turned, (json{{"arrived", true}}));
        EXPECT_EQ(presses(), std::vector<std::string>(3, fmt::format("{} at 20,30", button)));
    }
    ASSERT_TRUE(call("wheel", {{"direction", "down"}, {"amount", 100}}));
    EXPECT_EQ(presses().size(), 100u);
}

TEST_F(MouseTest, WaitsForThePointerAndTheModifiersThatAreOnTheirWay) {
    warp(110, 110);
    loop.after(std::chrono::milliseconds{60}, [this] { warp(200, 200); });
    loop.after(std::chrono::milliseconds{120}, [this] { key(kShiftCode, true); });
    const auto turned = call(
        "wheel", {{"direction", "down"}, {"amount", 1}, {"x", 200}, {"y", 200}, {"modifiers", {"shift"}}});
    EXPECT_EQ(turned.value(), (json{{"arrived", true}}));
    EXPECT_THAT(presses(), ElementsAre("5 at 100,100+1"));
    key(kShiftCode, false);
}

TEST_F(MouseTest, GoesAheadWhenThePointerDoesNotCome) {
    warp(110, 110);
    const auto turned = call("wheel", {{"direction", "up"}, {"amount", 1}, {"x", 300}, {"y", 300}});
    EXPECT_EQ(turned.value(), (json{{"arrived", false}}));
    EXPECT_THAT(presses(), ElementsAre("4 at 10,10"));
}

TEST_F(MouseTest, RefusesWhatMakesNoSense) {
    const std::vector<json> wrong{{{"direction", "north"}, {"amount", 1}},
                                  {{"direction", "up"}},
                                  {{"direction", "up"}, {"amount", 0}},
                                  {{"direction", "up"}, {"amount", 101}},
                                  {{"direction", "up"}, {"amount", 1}, {"x", 5}},
                                  {{"direction", "up"}, {"amount", 1}, {"x", -1}, {"y", 0}},
                                  {{"direction", "up"}, {"amount", 1}, {"modifiers", "shift"}},
                                  {{"direction", "up"}, {"amount", 1}, {"modifiers", {"hyper"}}},
                                  {{"direction", "up"}, {"amount", 1}, {"speed", 1}}};
    for (const auto& params : wrong) {
        const auto refused = call("wheel", params);
        ASSERT_FALSE(refused) << params.dump();
        EXPECT_EQ(refused.error().code, Errc::InvalidArgument);
    }
    EXPECT_TRUE(presses().empty());
}

}  // namespace
}  // namespace dormouse::agent

// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/mouse.h"

#include <xcb/xtest.h>

namespace dormouse::agent {

namespace {

// Under emulation on a busy host a motion has taken half a second.
constexpr auto kArrival = std::chrono::milliseconds{1500};
constexpr auto kArrivalLook = std::chrono::milliseconds{10};
// Programs put together what comes faster than they draw, and nothing is lost
// by it; but a burst without a pause has no place in queues that are bounded.
constexpr auto kBetweenTurns = std::chrono::milliseconds{8};

constexpr std::uint16_t kModifiers =
    XCB_KEY_BUT_MASK_SHIFT | XCB_KEY_BUT_MASK_CONTROL | XCB_KEY_BUT_MASK_MOD_1 | XCB_KEY_BUT_MASK_MOD_4;

tl::unexpected<Error> no_server() {
    return fail(Errc::Unavailable, "the desktop's X server is not there");
}

bool has_arrived(const PointerState& pointer, const WheelTurns& turns) {
    const bool there = !turns.at || (pointer.x == turns.at->first && pointer.y == turns.at->second);
    return there && (pointer.mask & kModifiers) == turns.modifiers;
}

Result<> press(XSession& session, WheelButton button) {
    auto* x = session.connection();
    if (!x) return no_server();
    const auto detail = static_cast<std::uint8_t>(button);
    for (const auto type : {XCB_BUTTON_PRESS, XCB_BUTTON_RELEASE})
        xcb_test_fake_input(x->get(), static_cast<std::uint8_t>(type), detail, XCB_CURRENT_TIME, XCB_NONE, 0,
                            0, 0);
    x->flush();
    return {};
}

}  // namespace

std::optional<PointerState> read_pointer(XConnection& x) {
    const auto reply = x.wait<xcb_query_pointer_reply_t>(xcb_query_pointer(x.get(), x.root()));
    if (!reply) return std::nullopt;
    return PointerState{reply->root_x, reply->root_y, reply->mask};
}

Task<Result<bool>> turn_wheel(EventLoop& loop, std::shared_ptr<XSession> session, WheelTurns turns) {
    auto* first = session->connection();
    if (!first) co_return no_server();
    const auto* extension = xcb_get_extension_data(first->get(), &xcb_test_id);
    if (!extension || !extension->present)
        co_return fail(Errc::Unavailable, "the desktop's X server has no XTEST");
    bool arrived = false;
    const auto deadline = loop.clock().now() + kArrival;
    while (!arrived) {
        auto* x = session->connection();
        if (!x) co_return no_server();
        const auto pointer = read_pointer(*x);
        if (!pointer) co_return no_server();
        arrived = has_arrived(*pointer, turns);
        if (arrived || loop.clock().now() >= deadline) break;
        co_await loop.sleep(kArrivalLook);
    }
    for (int i = 0; i < turns.amount; ++i) {
        if (i > 0) co_await loop.sleep(kBetweenTurns);
        DORMOUSE_CO_TRY(press(*session, turns.button));
    }
    // An answer to anything tells that the server has done what was asked before.
    auto* x = session->connection();
    if (!x || !read_pointer(*x)) co_return no_server();
    co_return arrived;
}

}  // namespace dormouse::agent

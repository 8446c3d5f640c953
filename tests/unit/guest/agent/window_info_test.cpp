// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/window_info.h"

#include "guest/agent/x_authority.h"
#include "x_fixture.h"

namespace dormouse::agent {
namespace {

using nlohmann::json;

class WindowInfoTest : public XTest {
  protected:
    xcb_window_t make_window(const std::string& window_class, std::optional<Atom> type, bool mapped = true) {
        auto& x = *app->connection();
        const auto window = xcb_generate_id(x.get());
        xcb_create_window(x.get(), XCB_COPY_FROM_PARENT, window, x.root(), 0, 0, 10, 10, 0,
                          XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT, 0, nullptr);
        set_property(x, window, XCB_ATOM_WM_CLASS, XCB_ATOM_STRING,
                     "i" + std::string(1, '\0') + window_class + '\0');
        if (type) set_numbers(x, window, Atom::NetWmWindowType, XCB_ATOM_ATOM, {x.atom(*type)});
        if (mapped) xcb_map_window(x.get(), window);
        return window;
    }
    // What a window manager would write.
    void manage(const std::vector<std::uint32_t>& windows) {
        auto& x = *app->connection();
        set_numbers(x, x.root(), Atom::NetSupportingWmCheck, XCB_ATOM_WINDOW, {x.window()});
        set_numbers(x, x.window(), Atom::NetSupportingWmCheck, XCB_ATOM_WINDOW, {x.window()});
        set_numbers(x, x.root(), Atom::NetClientList, XCB_ATOM_WINDOW, windows);
        settle(x);
    }
};

TEST_F(WindowInfoTest, ABareServerIsNotASession) {
    const auto status = call("status").value();
    EXPECT_EQ(status["x_ready"], true);
    EXPECT_EQ(status["session_ready"], false);
    EXPECT_EQ(status["browser_window"], false);
    EXPECT_EQ(status["active_window"], nullptr);
    EXPECT_EQ(status["screen"], json({{"width", 1280}, {"height", 800}}));
    EXPECT_EQ(call("screen_size").value(), json({{"width", 1280}, {"height", 800}}));
}

TEST_F(WindowInfoTest, ASessionIsAWindowManagerAndAPanelOrDesktop) {
    const auto panel = make_window("Xfce4-panel", Atom::NetWmWindowTypeDock);
    const auto desktop = make_window("Xfdesktop", Atom::NetWmWindowTypeDesktop, false);
    manage({desktop});
    EXPECT_EQ(call("status").value()["session_ready"], false) << "not on screen yet";
    manage({desktop, panel});
    EXPECT_EQ(call("status").value()["session_ready"], true);
    // The manager has died: the root still names its window, which is gone.
    auto& x = *app->connection();
    set_numbers(x, x.root(), Atom::NetSupportingWmCheck, XCB_ATOM_WINDOW, {panel});
    settle(x);
    EXPECT_EQ(call("status").value()["session_ready"], false);
}

TEST_F(WindowInfoTest, SeesTheBrowserOnceItIsOnScreen) {
    const auto hidden = make_window("Chromium", std::nullopt, false);
    manage({hidden});
    EXPECT_EQ(call("status").value()["browser_window"], false);
    manage({hidden, make_window("Chromium", std::nullopt)});
    EXPECT_EQ(call("status").value()["browser_window"], true);
}

TEST_F(WindowInfoTest, TellsTheActiveWindow) {
    activate("Mousepad", "notes — Ω");
    EXPECT_EQ(call("status").value()["active_window"], json({{"class", "Mousepad"}, {"title", "notes — Ω"}}));
}

TEST_F(WindowInfoTest, CutsWhatApplicationsWriteAndSurvivesNonsense) {
    activate("C", std::string(100'000, 't'));
    EXPECT_EQ(call("status").value()["active_window"]["title"].get<std::string>().size(), 512u);
    auto& x = *app->connection();
    set_numbers(x, x.root(), Atom::NetActiveWindow, XCB_ATOM_WINDOW, {0x7fffffff});
    manage({0x7fffffff, 1, x.root()});
    set_property(x, x.root(), x.atom(Atom::NetSupportingWmCheck), XCB_ATOM_STRING, "abc");
    settle(x);
    EXPECT_TRUE(call("status"));
}

TEST_F(WindowInfoTest, ComesBackWhenTheServerDoes) {
    app.reset();
    server.end();
    ASSERT_TRUE(wait_for([&] { return services->session->connection() == nullptr; }));
    EXPECT_EQ(call("status").value()["x_ready"], false);
    start_server(display);
    ASSERT_TRUE(wait_for([&] { return services->session->connection() != nullptr; }));
    ASSERT_TRUE(call("clipboard_set", {{"text", "again"}}));
    app = std::make_unique<XSession>(loop, display);
    EXPECT_EQ(run(app->reader()->read(app->connection()->atom(Atom::Clipboard))).value(), "again");
}

TEST(TerminalClass, KnowsTheUsualOnes) {
    for (const char* name : {"Xfce4-terminal", "XTerm", "Gnome-terminal", "konsole", "Lxterminal", "URxvt"}) {
        EXPECT_TRUE(is_terminal_class(name)) << name;
    }
    for (const char* name : {"Chromium", "Mousepad", "", "Steam"})
        EXPECT_FALSE(is_terminal_class(name)) << name;
}

// One entry as libXau writes it: big-endian lengths before each part.
std::string authority_entry(const std::string& host, const std::string& number, const std::string& name,
                            const std::string& data) {
    std::string bytes{"\x01\x00", 2};
    for (const auto& part : {host, number, name, data}) {
        bytes += static_cast<char>(part.size() >> 8);
        bytes += static_cast<char>(part.size() & 0xff);
        bytes += part;
    }
    return bytes;
}

TEST(XAuthority, TakesTheCookiesOfTheDisplayWhateverTheHostIsCalled) {
    const auto file = testing::TempDir() + "dormouse_xauthority_" + std::to_string(::getpid());
    const std::string magic = "MIT-MAGIC-COOKIE-1";
    ASSERT_TRUE(write_file_atomic(file, authority_entry("old-name", "0", magic, "first") +
                                            authority_entry("h", "1", magic, "other display") +
                                            authority_entry("h", "0", "XDM-AUTHORIZATION-1", "other kind") +
                                            authority_entry("h", "", magic, "any display")));
    EXPECT_EQ(read_cookies(file, ":0.0"), (std::vector<std::string>{"first", "any display"}));
    ASSERT_TRUE(write_file_atomic(file, std::string(1000, '\xff')));
    EXPECT_TRUE(read_cookies(file, ":0").empty());
    ::unlink(file.c_str());
    EXPECT_TRUE(read_cookies(file, ":0").empty());
}

class AuthorityTest : public XTest {
  protected:
    void SetUp() override {}
};

TEST_F(AuthorityTest, OpensAServerThatWantsACookie) {
    const auto file = testing::TempDir() + "dormouse_xauth_" + std::to_string(::getpid());
    const std::string cookie(16, 'k');
    const auto entry = authority_entry("elsewhere", "", "MIT-MAGIC-COOKIE-1", cookie);
    ASSERT_TRUE(write_file_atomic(file, entry));
    start_server({}, {"-auth", file});
    if (IsSkipped()) return;
    EXPECT_EQ(XConnection::connect(display).error().code, Errc::Unavailable);
    ::setenv("XAUTHORITY", file.c_str(), 1);
    EXPECT_TRUE(XConnection::connect(display));
    ::unsetenv("XAUTHORITY");
    ::unlink(file.c_str());
}

}  // namespace
}  // namespace dormouse::agent

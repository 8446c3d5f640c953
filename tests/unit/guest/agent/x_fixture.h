// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "fake_system.h"
#include "guest/agent/methods.h"
#include "hostd/base/file.h"
#include "hostd/base/process.h"

namespace dormouse::agent {

// A child that is ended when it goes out of scope.
class ScopedChild {
  public:
    ScopedChild() = default;
    explicit ScopedChild(Child child) : child_(std::move(child)) {}
    ScopedChild(ScopedChild&& other) noexcept : child_(std::exchange(other.child_, {})) {}
    ScopedChild& operator=(ScopedChild&& other) noexcept {
        end();
        child_ = std::exchange(other.child_, {});
        return *this;
    }
    ~ScopedChild() { end(); }
    void end() {
        if (child_.pid <= 0) return;
        ::kill(child_.pid, SIGKILL);
        wait_exit(child_);
        child_ = {};
    }
    bool ended() const {
        pollfd entry{child_.pidfd.get(), POLLIN, 0};
        return ::poll(&entry, 1, 0) > 0;
    }

  private:
    Child child_;
};

// A real X server without a screen, the agent's parts on it, and programs that
// use it. Real time: these tests wait for things to happen, with a limit.
class XTest : public testing::Test {
  protected:
    void SetUp() override {
        start_server({});
        if (IsSkipped() || HasFatalFailure()) return;
        services = make_services(loop, system, display);
        ASSERT_NE(services->session->connection(), nullptr);
        app = std::make_unique<XSession>(loop, display);
        ASSERT_NE(app->connection(), nullptr);
    }

    // `number`: the display it must have; empty: any that is free.
    void start_server(const std::string& number, const std::vector<std::string>& more = {"-ac"}) {
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
        const UniqueFd read_end{ends[0]};
        UniqueFd write_end{ends[1]};
        CommandLine command;
        command.argv = {"Xvfb",        "-displayfd", "3",   "-screen", "0",
                        "1280x800x24", "-nolisten",  "tcp", "-noreset"};
        if (!number.empty()) command.argv.insert(command.argv.begin() + 1, number);
        command.argv.insert(command.argv.end(), more.begin(), more.end());
        command.descriptors = {{3, write_end.get()}, {2, null.get()}};
        auto child = spawner.start(command);
        if (!child && child.error().code == Errc::NotFound) {
            GTEST_SKIP() << "Xvfb is not installed: install the Debian package xvfb to run this test";
        }
        ASSERT_TRUE(child) << child.error().message;
        server = ScopedChild{std::move(*child)};
        write_end.reset();
        // It writes its number when it is ready, and nothing if it fails.
        std::string text;
        char c = 0;
        while (::read(read_end.get(), &c, 1) == 1 && c != '\n') text += c;
        ASSERT_FALSE(text.empty()) << "Xvfb did not start";
        display = ":" + text;
    }

    // Runs the loop until `condition` holds; false after 20 s.
    bool wait_for(const std::function<bool()>& condition) {
        const auto deadline = clock.now() + std::chrono::seconds{20};
        while (!condition()) {
            if (clock.now() > deadline) return false;
            loop.run_once(std::chrono::milliseconds{20});
        }
        return true;
    }

    template <class T>
    T run(Task<T> task) {
        return loop.run_until_complete(std::move(task));
    }

    Result<nlohmann::json> call(const std::string& method, nlohmann::json params = nlohmann::json::object()) {
        return run(call_method(services, {method, std::move(params)}));
    }

    ScopedChild start_xclip(std::vector<std::string> arguments, int output) {
        CommandLine command;
        command.argv = {"xclip", "-display", display};
        command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
        command.descriptors = {{1, output}, {2, null.get()}};
        auto child = spawner.start(command);
        EXPECT_TRUE(child) << "install the Debian package xclip to run this test";
        return child ? ScopedChild{std::move(*child)} : ScopedChild{};
    }

    // What another program gets when it pastes.
    std::string xclip_out(const std::string& selection, const std::string& target = "UTF8_STRING") {
        const UniqueFd output{::memfd_create("xclip", MFD_CLOEXEC)};
        const auto child = start_xclip({"-selection", selection, "-target", target, "-o"}, output.get());
        EXPECT_TRUE(wait_for([&] { return child.ended(); })) << "xclip does not end";
        std::string text(static_cast<std::size_t>(::lseek(output.get(), 0, SEEK_END)), '\0');
        EXPECT_EQ(::pread(output.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        return text;
    }

    // Another program copies `text`, and serves it until the child is ended.
    ScopedChild xclip_in(const std::string& selection, const std::string& text) {
        const auto file = testing::TempDir() + "dormouse_xclip_" + std::to_string(::getpid());
        EXPECT_TRUE(write_file_atomic(file, text));
        const auto before = owner_of(selection);
        auto child = start_xclip({"-quiet", "-selection", selection, "-i", file}, null.get());
        EXPECT_TRUE(wait_for([&] { return owner_of(selection) != before; }));
        ::unlink(file.c_str());
        return child;
    }

    xcb_atom_t selection_atom(const std::string& selection) {
        return selection == "primary" ? xcb_atom_t{XCB_ATOM_PRIMARY}
                                      : app->connection()->atom(Atom::Clipboard);
    }
    xcb_window_t owner_of(const std::string& selection) {
        auto* x = app->connection();
        const auto reply = x->wait<xcb_get_selection_owner_reply_t>(
            xcb_get_selection_owner(x->get(), selection_atom(selection)));
        return reply ? reply->owner : XCB_NONE;
    }

    static void set_property(XConnection& x, xcb_window_t window, xcb_atom_t name, xcb_atom_t type,
                             const std::string& bytes) {
        xcb_change_property(x.get(), XCB_PROP_MODE_REPLACE, window, name, type, 8,
                            static_cast<std::uint32_t>(bytes.size()), bytes.data());
        x.flush();
    }
    static void set_numbers(XConnection& x, xcb_window_t window, Atom name, xcb_atom_t type,
                            const std::vector<std::uint32_t>& values) {
        xcb_change_property(x.get(), XCB_PROP_MODE_REPLACE, window, x.atom(name), type, 32,
                            static_cast<std::uint32_t>(values.size()), values.data());
        x.flush();
    }
    // Makes the other program's window the active one, with this class.
    void activate(const std::string& window_class, const std::string& title = "a title") {
        auto& x = *app->connection();
        set_property(x, x.window(), XCB_ATOM_WM_CLASS, XCB_ATOM_STRING,
                     std::string{"instance"} + '\0' + window_class + '\0');
        set_property(x, x.window(), x.atom(Atom::NetWmName), x.atom(Atom::Utf8String), title);
        set_numbers(x, x.root(), Atom::NetActiveWindow, XCB_ATOM_WINDOW, {x.window()});
        settle(x);
    }
    // All that was sent on this connection has been carried out.
    static void settle(XConnection& x) { x.wait<xcb_get_input_focus_reply_t>(xcb_get_input_focus(x.get())); }

    SystemClock clock;
    EventLoop loop{clock};
    FakeSystem system;
    ForkSpawner spawner;
    UniqueFd null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    ScopedChild server;
    std::string display;
    std::shared_ptr<Services> services;
    std::unique_ptr<XSession> app;  // another program on the desktop
};

}  // namespace dormouse::agent

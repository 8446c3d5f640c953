// SPDX-License-Identifier: Apache-2.0
// The agent without a desktop, as the host reaches it: real frames over a
// socketpair, through the real port.
#include "guest/agent/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "fake_system.h"
#include "guest/agent/port.h"

namespace dormouse::agent {
namespace {

using guest::FrameType;
using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class DispatcherTest : public testing::Test, protected guest::Mux::Listener {
  protected:
    DispatcherTest() {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
        host_end = UniqueFd{ends[0]};
        dispatcher =
            Dispatcher::create(services, [this](std::string bytes) { port->send(std::move(bytes)); });
        port = std::make_unique<Port>(
            loop, UniqueFd{ends[1]},
            Port::Events{[this] { dispatcher->connected(); }, [this] { dispatcher->disconnected(); },
                         [this](std::string_view bytes) { dispatcher->on_bytes(bytes); }});
        pump();
    }

    // The host's side.
    void send(std::string bytes) override { outbox += bytes; }
    void on_acknowledged(json body) override { acknowledged.push_back(std::move(body)); }
    void on_close(std::uint32_t, Result<json> outcome) override { closed.push_back(std::move(outcome)); }

    // Moves bytes both ways, as much as fits at a time, until all is quiet.
    void pump() {
        char buffer[4096];
        for (int quiet = 0; quiet < 2;) {
            const auto put = ::send(host_end.get(), outbox.data(), outbox.size(), MSG_NOSIGNAL);
            if (put > 0) outbox.erase(0, static_cast<std::size_t>(put));
            loop.run_ready();
            const auto got = ::recv(host_end.get(), buffer, sizeof buffer, 0);
            if (got > 0) mux.receive({buffer, static_cast<std::size_t>(got)});
            quiet = got > 0 || !outbox.empty() ? 0 : quiet + 1;
        }
    }
    void hello(std::int64_t unix_seconds = 2'000'000'000) {
        mux.begin_session(++session);
        mux.send_hello({"host", unix_seconds * 1'000'000'000});
        pump();
    }
    Result<json> ask(const std::string& method, const json& params = json::object()) {
        closed.clear();
        EXPECT_TRUE(mux.open({method, params}));
        pump();
        if (closed.empty()) return fail(Errc::Timeout, "no answer");
        return closed[0];
    }

    ManualClock clock;
    EventLoop loop{clock};
    FakeSystem system;
    std::shared_ptr<Services> services = make_services(loop, system, ":7654321");
    std::shared_ptr<Dispatcher> dispatcher;
    std::unique_ptr<Port> port;
    UniqueFd host_end;
    std::string outbox;
    guest::Mux mux{guest::Role::Host, *this, clock};
    std::uint32_t session = 40;
    std::vector<json> acknowledged;
    std::vector<Result<json>> closed;
};

TEST_F(DispatcherTest, SetsTheClockBeforeItAcknowledges) {
    hello();
    ASSERT_THAT(acknowledged, SizeIs(1));
    EXPECT_EQ(system.time, WallTime{std::chrono::seconds{2'000'000'000}});
    const auto info = guest::parse_hello_info(acknowledged[0]);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->boot_id, "boot-7");
    EXPECT_EQ(info->time_unix_ns, 2'000'000'000'000'000'000);
    EXPECT_THAT(info->methods, Contains("status"));
}

TEST_F(DispatcherTest, AnswersOnlyTheNewestOfManyHelloes) {
    mux.begin_session(9);
    for (int i = 0; i < 80; ++i) mux.send_hello({"host", (1'500'000'000 + i) * 1'000'000'000LL});
    pump();
    ASSERT_THAT(acknowledged, SizeIs(1));
    EXPECT_EQ(system.clock_steps, 1);
    EXPECT_EQ(system.time, WallTime{std::chrono::seconds{1'500'000'079}});
}

TEST_F(DispatcherTest, AcknowledgesEvenWhenItMayNotSetTheClock) {
    system.may_set_clock = false;
    hello();
    EXPECT_THAT(acknowledged, SizeIs(1));
}

TEST_F(DispatcherTest, LeavesAClockAloneThatIsNearlyRight) {
    hello(1'000'000'000);
    EXPECT_EQ(system.clock_steps, 0);
    const auto near = ask("set_time", {{"unix_ns", 1'000'000'000'050'000'000}});
    EXPECT_EQ(near.value(), json({{"offset_ms", 50}, {"stepped", false}}));
    const auto far = ask("set_time", {{"unix_ns", 1'000'000'003'000'000'000}});
    EXPECT_EQ(far.value(), json({{"offset_ms", 3000}, {"stepped", true}}));
}

TEST_F(DispatcherTest, AnswersWithoutADesktop) {
    hello();
    EXPECT_EQ(ask("ping").value(), json::object());
    const auto status = ask("status").value();
    EXPECT_EQ(status["x_ready"], false);
    EXPECT_EQ(status["session_ready"], false);
    EXPECT_EQ(status["screen"], nullptr);
    EXPECT_EQ(status["active_window"], nullptr);
    EXPECT_EQ(status["uptime_seconds"], 12.5);
    for (const char* method : {"screen_size", "clipboard_get"}) {
        EXPECT_EQ(ask(method).error().code, Errc::Unavailable) << method;
    }
    EXPECT_EQ(ask("clipboard_set", {{"text", "a"}}).error().code, Errc::Unavailable);
    EXPECT_EQ(ask("paste_text", {{"text", "a"}}).error().code, Errc::Unavailable);
    EXPECT_EQ(ask("paste_wait", {{"timeout_ms", 0}}).error().code, Errc::Conflict);
    EXPECT_EQ(ask("paste_restore").error().code, Errc::Conflict);
}

TEST_F(DispatcherTest, NamesAMethodThatItDoesNotHave) {
    hello();
    const auto answer = ask("make_coffee");
    EXPECT_EQ(answer.error().code, Errc::NotFound);
    EXPECT_NE(answer.error().message.find("make_coffee"), std::string::npos);
}

TEST_F(DispatcherTest, RefusesWrongParametersAndNamesThem) {
    hello();
    const std::vector<std::tuple<std::string, json, std::string>> wrong{
        {"ping", {{"extra", 1}}, "extra"},
        {"set_time", json::object(), "unix_ns"},
        {"set_time", {{"unix_ns", "now"}}, "unix_ns"},
        {"set_time", {{"unix_ns", -1}}, "unix_ns"},
        {"set_time", {{"unix_ns", 18446744073709551615u}}, "unix_ns"},
        {"clipboard_get", {{"selection", "secondary"}}, "selection"},
        {"clipboard_get", {{"selection", 3}}, "selection"},
        {"clipboard_set", {{"text", 7}}, "text"},
        {"clipboard_set", {{"text", "a"}, {"selections", "clipboard"}}, "selections"},
        {"clipboard_set", {{"text", "a"}, {"selections", json::array({"clipboard", "x"})}}, "selections"},
        {"clipboard_set", {{"text", "a"}, {"selections", json::array()}}, "selections"},
        {"paste_text", json::object(), "text"},
        {"paste_wait", {{"timeout_ms", 1.5}}, "timeout_ms"},
        {"paste_wait", {{"timeout_ms", 60'001}}, "timeout_ms"},
        {"poweroff", {{"force", true}}, "force"},
    };
    for (const auto& [method, params, field] : wrong) {
        const auto answer = ask(method, params);
        ASSERT_FALSE(answer) << method << params;
        EXPECT_EQ(answer.error().code, Errc::InvalidArgument) << method << params;
        EXPECT_NE(answer.error().message.find(field), std::string::npos) << answer.error().message;
    }
    const auto huge = ask("clipboard_set", {{"text", std::string(guest::kMaxText + 1, 'x')}});
    EXPECT_EQ(huge.error().code, Errc::TooLarge);
    EXPECT_THAT(system.powered, IsEmpty());
}

TEST_F(DispatcherTest, QuiescesAndGoesDown) {
    hello();
    EXPECT_EQ(ask("quiesce").value(), json({{"trimmed", true}}));
    EXPECT_EQ(system.quiesced, 1);
    EXPECT_TRUE(ask("poweroff"));
    EXPECT_TRUE(ask("reboot"));
    EXPECT_THAT(system.powered, ElementsAre(PowerAction::Off, PowerAction::Reboot));
}

TEST_F(DispatcherTest, ForgetsTheSessionWhenTheHostGoesAway) {
    hello();
    host_end.reset();
    loop.run_ready();
    EXPECT_NO_FATAL_FAILURE(port->send("dropped"));
}

TEST_F(DispatcherTest, FindsTheNextHelloAfterNonsense) {
    hello();
    send(std::string(5000, '\xdb'));
    send(guest::encode_frame({FrameType::Open, 0, session, 1, 5, R"({"method":"ping","params":{}})"}));
    pump();
    EXPECT_FALSE(mux.established()) << "the agent has asked for a new hello";
    hello();
    EXPECT_TRUE(ask("ping"));
}

}  // namespace
}  // namespace dormouse::agent

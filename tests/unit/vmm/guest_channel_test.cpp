// SPDX-License-Identifier: Apache-2.0
#include "vmm/guest_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace dormouse::vmm {
namespace {

using namespace std::chrono_literals;
using guest::Frame;
using guest::FrameType;
using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// An agent that does only what the test says, in real frames.
class FakeGuest final : public guest::Mux::Listener {
  public:
    explicit FakeGuest(const Clock& clock) : mux(guest::Role::Guest, *this, clock) {}
    void send(std::string bytes) override { outbox += bytes; }
    void on_hello(json body) override { hello = guest::parse_host_hello(body).value(); }
    void on_open(std::uint32_t stream, guest::Request request) override {
        opened.emplace_back(stream, std::move(request));
    }
    void on_cancel(std::uint32_t stream) override { cancelled.push_back(stream); }
    void acknowledge() { mux.acknowledge({"9.9", "boot-1", hello->time_unix_ns, {"ping"}}); }

    guest::Mux mux;
    std::string outbox;
    std::optional<guest::HostHello> hello;
    std::vector<std::pair<std::uint32_t, guest::Request>> opened;
    std::vector<std::uint32_t> cancelled;
};

// What a task gave, once it has ended.
template <class T>
struct Captured {
    std::shared_ptr<std::optional<T>> value = std::make_shared<std::optional<T>>();
    explicit Captured(Task<T> task) {
        spawn([](Task<T> inner, std::shared_ptr<std::optional<T>> out) -> Task<void> {
            out->emplace(co_await std::move(inner));
        }(std::move(task), value));
    }
    bool done() const { return value->has_value(); }
    const T& get() const { return value->value(); }
};

class GuestChannelTest : public testing::Test {
  protected:
    // Lets what still waits end.
    void TearDown() override {
        channel.reset();
        loop.run_ready();
    }
    // Carries bytes both ways, one byte at a time, until all is quiet.
    void settle() {
        do {
            loop.run_ready();
            for (const char byte : std::exchange(to_guest, {})) guest.mux.receive({&byte, 1});
            for (const char byte : std::exchange(guest.outbox, {})) channel->on_bytes({&byte, 1});
        } while (!to_guest.empty() || !guest.outbox.empty());
        loop.run_ready();
    }
    void advance(Duration by) {
        clock.advance(by);
        settle();
    }
    void become_ready() {
        channel->reset();
        settle();
        ASSERT_TRUE(guest.hello);
        guest.acknowledge();
        settle();
        ASSERT_TRUE(channel->ready());
    }
    Captured<Result<json>> ask(const std::string& method, Duration timeout = 10s) {
        Captured<Result<json>> answer{channel->request(method, json::object(), timeout)};
        return answer;
    }

    ManualClock clock;
    EventLoop loop{clock};
    FakeGuest guest{clock};
    std::string to_guest;
    int sends = 0;
    std::unique_ptr<GuestChannel> channel = std::make_unique<GuestChannel>(loop, [this](std::string bytes) {
        to_guest += bytes;
        ++sends;
    });
};

TEST_F(GuestChannelTest, SaysNothingBeforeItIsConnected) {
    advance(1min);
    EXPECT_EQ(sends, 0);
    const auto answer = ask("ping");
    settle();
    EXPECT_EQ(answer.get().error().code, Errc::Unavailable);
}

TEST_F(GuestChannelTest, TellsTheTimeAndIsReadyWhenAcknowledged) {
    std::vector<std::string> ready;
    channel->set_on_ready([&](const guest::HelloInfo& info) { ready.push_back(info.boot_id); });
    Captured<Result<guest::HelloInfo>> waiting{channel->wait_ready(5s)};
    become_ready();
    EXPECT_EQ(guest.hello->time_unix_ns, clock.wall().time_since_epoch().count());
    EXPECT_EQ(waiting.get().value().agent_version, "9.9");
    EXPECT_THAT(ready, ElementsAre("boot-1"));
    Captured<Result<guest::HelloInfo>> at_once{channel->wait_ready(0s)};
    loop.run_ready();
    EXPECT_TRUE(at_once.get());
}

TEST_F(GuestChannelTest, RepeatsTheHelloUntilItIsAcknowledged) {
    channel->reset();
    EXPECT_EQ(sends, 1);
    advance(250ms);
    EXPECT_EQ(sends, 2);
    advance(500ms);
    EXPECT_EQ(sends, 3);
    for (int i = 0; i < 5; ++i) advance(1s);
    EXPECT_EQ(sends, 8);
    guest.acknowledge();
    settle();
    EXPECT_TRUE(channel->ready());
    advance(10s);
    EXPECT_EQ(sends, 8);
}

TEST_F(GuestChannelTest, DoesNotTakeTheAcknowledgementOfAnOldHello) {
    channel->reset();
    settle();
    const auto old = guest.hello->time_unix_ns;
    for (int i = 0; i < 80; ++i) advance(1s);
    guest.mux.acknowledge({"9.9", "boot-1", old, {}});
    settle();
    EXPECT_FALSE(channel->ready());
    guest.mux.acknowledge({"9.9", "boot-1", old + 12345, {}});
    settle();
    EXPECT_FALSE(channel->ready());
    guest.acknowledge();
    settle();
    EXPECT_TRUE(channel->ready());
}

TEST_F(GuestChannelTest, WaitReadyTimesOut) {
    Captured<Result<guest::HelloInfo>> waiting{channel->wait_ready(5s)};
    channel->reset();
    advance(4999ms);
    EXPECT_FALSE(waiting.done());
    advance(1ms);
    EXPECT_EQ(waiting.get().error().code, Errc::Timeout);
}

TEST_F(GuestChannelTest, AnswersEachRequestWithItsOwnAnswer) {
    become_ready();
    const auto first = ask("status");
    const auto second = ask("nonsense");
    settle();
    ASSERT_THAT(guest.opened, SizeIs(2));
    guest.mux.close(guest.opened[1].first, fail(Errc::NotFound, "no such method"));
    guest.mux.close(guest.opened[0].first, json{{"x_ready", true}});
    settle();
    EXPECT_EQ(first.get().value(), json({{"x_ready", true}}));
    EXPECT_EQ(second.get().error().code, Errc::NotFound);
}

TEST_F(GuestChannelTest, ARequestThatIsNotAnsweredTimesOutAndIsCancelled) {
    become_ready();
    const auto answer = ask("status", 3s);
    settle();
    advance(3s);
    EXPECT_EQ(answer.get().error().code, Errc::Timeout);
    EXPECT_THAT(guest.cancelled, SizeIs(1));
}

TEST_F(GuestChannelTest, AResetInterruptsWhatCannotBeAskedTwice) {
    become_ready();
    const auto answer = ask("paste_text");
    settle();
    channel->reset();
    settle();
    EXPECT_EQ(answer.get().error().code, Errc::Interrupted);
    EXPECT_FALSE(channel->ready());
}

TEST_F(GuestChannelTest, AResetRepeatsOnceWhatMayBeAskedTwice) {
    std::vector<std::string> lost;
    channel->set_on_lost([&](const std::string& why) { lost.push_back(why); });
    become_ready();
    const auto answer = ask("status", 60s);
    settle();
    become_ready();
    EXPECT_THAT(lost, SizeIs(1));
    ASSERT_THAT(guest.opened, SizeIs(2));
    EXPECT_FALSE(answer.done());
    guest.mux.close(guest.opened[1].first, json{{"again", 1}});
    settle();
    EXPECT_EQ(answer.get().value(), json({{"again", 1}}));

    const auto twice = ask("status", 60s);
    settle();
    become_ready();
    become_ready();
    EXPECT_EQ(twice.get().error().code, Errc::Interrupted);
}

TEST_F(GuestChannelTest, ARepeatedRequestKeepsItsTimeLimit) {
    become_ready();
    const auto answer = ask("status", 3s);
    settle();
    channel->reset();
    advance(3s);
    EXPECT_EQ(answer.get().error().code, Errc::Timeout);
}

TEST_F(GuestChannelTest, AnAnswerFromBeforeTheResetIsNotTaken) {
    become_ready();
    const auto answer = ask("paste_text");
    settle();
    guest.mux.close(guest.opened[0].first, json::object());
    const auto late = std::exchange(guest.outbox, {});
    channel->reset();
    channel->on_bytes(std::string_view{late}.substr(late.size() / 2));
    channel->on_bytes(late);
    settle();
    EXPECT_EQ(answer.get().error().code, Errc::Interrupted);
    guest.acknowledge();
    settle();
    EXPECT_TRUE(channel->ready());
}

TEST_F(GuestChannelTest, AnAgentThatBeganAnewIsGreetedAnew) {
    become_ready();
    const auto answer = ask("paste_text");
    advance(1s);
    guest.mux.reset();
    guest.hello.reset();
    guest.mux.ask_for_hello();
    settle();
    EXPECT_EQ(answer.get().error().code, Errc::Interrupted);
    ASSERT_TRUE(guest.hello);
    guest.acknowledge();
    settle();
    EXPECT_TRUE(channel->ready());
}

TEST_F(GuestChannelTest, SetsTheClockEveryThirtySeconds) {
    become_ready();
    advance(30s);
    ASSERT_THAT(guest.opened, SizeIs(1));
    EXPECT_EQ(guest.opened[0].second.method, "set_time");
    EXPECT_EQ(guest.opened[0].second.params["unix_ns"], clock.wall().time_since_epoch().count());
    guest.mux.close(guest.opened[0].first, json::object());
    settle();
    advance(29s);
    EXPECT_THAT(guest.opened, SizeIs(1));
    advance(1s);
    EXPECT_THAT(guest.opened, SizeIs(2));
}

TEST_F(GuestChannelTest, AnAgentThatDoesNotAnswerIsGreetedAnew) {
    become_ready();
    guest.hello.reset();
    advance(30s);
    advance(20s);
    EXPECT_FALSE(channel->ready());
    EXPECT_TRUE(guest.hello);
}

TEST_F(GuestChannelTest, DisconnectFailsAllAndFallsSilent) {
    become_ready();
    const auto answer = ask("status", 1h);
    settle();
    channel->disconnect();
    settle();
    EXPECT_EQ(answer.get().error().code, Errc::Interrupted);
    const auto before = sends;
    advance(5min);
    EXPECT_EQ(sends, before);
}

TEST_F(GuestChannelTest, DestroyingItFailsWhatIsPending) {
    const Captured<Result<guest::HelloInfo>> waiting{channel->wait_ready(5s)};
    channel.reset();
    loop.run_ready();
    EXPECT_EQ(waiting.get().error().code, Errc::Interrupted);
}

TEST_F(GuestChannelTest, DestroyingItFailsRequestsToo) {
    become_ready();
    const auto answer = ask("status");
    channel.reset();
    loop.run_ready();
    EXPECT_EQ(answer.get().error().code, Errc::Interrupted);
}

TEST_F(GuestChannelTest, ThereAreOnlySoManyRequests) {
    become_ready();
    std::vector<Captured<Result<json>>> answers;
    for (std::size_t i = 0; i <= guest::kMaxStreams; ++i) answers.push_back(ask("status"));
    settle();
    EXPECT_EQ(answers.back().get().error().code, Errc::Unavailable);
    EXPECT_FALSE(answers.front().done());
}

TEST_F(GuestChannelTest, AGuestThatAsksForHelloesWithoutEndGetsFew) {
    become_ready();
    const auto before = sends;
    for (int i = 0; i < 1000; ++i) {
        channel->on_bytes(guest::encode_frame({FrameType::Hello, 0, 0, 0, 0, {}}));
        loop.run_ready();
    }
    EXPECT_LE(sends - before, 1);
    for (int i = 0; i < 1000; ++i) {
        guest.acknowledge();
        guest.mux.ask_for_hello();
        settle();
    }
    EXPECT_LE(sends - before, 2);
    advance(250ms);
    guest.acknowledge();
    settle();
    EXPECT_TRUE(channel->ready());
}

TEST_F(GuestChannelTest, SurvivesNonsenseFromTheGuest) {
    become_ready();
    const auto answer = ask("status", 3s);
    settle();
    const auto session = guest.mux.session();
    const auto stream = guest.opened[0].first;
    std::uint32_t sequence = 0;
    const auto say = [&](FrameType type, std::uint32_t id, std::string payload, std::uint16_t flags = 0) {
        channel->on_bytes(guest::encode_frame({type, flags, session, id, sequence++, std::move(payload)}));
    };
    say(FrameType::Close, stream + 100, R"({"result":{}})");
    say(FrameType::Data, stream, std::string(1000, 'x'));
    say(FrameType::Window, stream, "\xff\xff\xff\xff");
    say(FrameType::Window, stream, "");
    say(FrameType::Open, 2, R"({"method":"ping","params":{}})");
    say(FrameType::Pong, 0, "");
    channel->on_bytes(guest::encode_frame({FrameType::HelloAck, 0, session, 0, 0, "{}"}));
    channel->on_bytes(std::string(100'000, '\xdb'));
    EXPECT_TRUE(channel->ready());
    say(FrameType::Close, stream, "[[[[");
    settle();
    EXPECT_EQ(answer.get().error().code, Errc::Corrupt);
    EXPECT_TRUE(channel->ready());
}

}  // namespace
}  // namespace dormouse::vmm

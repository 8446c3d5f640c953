// SPDX-License-Identifier: Apache-2.0
#include "vmm/qmp_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vmm/keeper_protocol.h"

namespace dormouse::vmm {
namespace {

using nlohmann::json;

// QEMU's side of the conversation; its bytes arrive one at a time.
class QmpClientTest : public ::testing::Test {
  protected:
    struct Sent {
        json request;
        bool with_fd;
    };
    using Outcome = std::shared_ptr<std::optional<Result<json>>>;

    ~QmpClientTest() override {
        client_.reset();
        loop_.run_ready();  // what waited has been told, and ends
    }
    std::unique_ptr<QmpClient> make_client() {
        return std::make_unique<QmpClient>(
            loop_,
            [this](std::string line, UniqueFd fd) -> Result<> {
                EXPECT_EQ(line.find('\n'), line.size() - 1);
                sent_.push_back({json::parse(line), static_cast<bool>(fd)});
                if (refuse_) return fail(Errc::Unavailable, "no way out");
                return {};
            },
            [this](std::string name, json data) { events_.emplace_back(std::move(name), std::move(data)); });
    }
    static Task<void> capture(Task<Result<json>> task, Outcome outcome) {
        outcome->emplace(co_await std::move(task));
    }
    Outcome start(Task<Result<json>> task) {
        auto outcome = std::make_shared<std::optional<Result<json>>>();
        spawn(capture(std::move(task), outcome));
        return outcome;
    }
    void receive(const std::string& line) {
        for (const char c : line + "\r\n") client_->on_bytes(std::string_view{&c, 1});
        loop_.run_ready();
    }
    std::string id_of(std::size_t index) const { return sent_.at(index).request.at("id"); }
    void succeed(std::size_t index, const std::string& value) {
        receive("{\"return\": " + value + ", \"id\": \"" + id_of(index) + "\"}");
    }

    ManualClock clock_;
    EventLoop loop_{clock_};
    std::vector<Sent> sent_;
    std::vector<std::pair<std::string, json>> events_;
    bool refuse_ = false;
    std::unique_ptr<QmpClient> client_ = make_client();
};

TEST_F(QmpClientTest, MatchesAnswersToCommandsInAnyOrder) {
    const auto first = start(client_->execute("query-status"));
    const auto second = start(client_->execute("query-name"));
    succeed(1, R"({"name": "n"})");
    EXPECT_FALSE(*first);
    succeed(0, R"({"status": "running"})");
    EXPECT_EQ((**first)->at("status"), "running");
    EXPECT_EQ((**second)->at("name"), "n");
    EXPECT_EQ(client_->pending(), 0U);
}

TEST_F(QmpClientTest, SendsArgumentsOnlyWhereThereAreSome) {
    start(client_->execute("stop"));
    start(client_->execute("eject", json{{"id", "cd0"}}));
    EXPECT_EQ(sent_.at(0).request.at("execute"), "stop");
    EXPECT_FALSE(sent_.at(0).request.contains("arguments"));
    EXPECT_EQ(sent_.at(1).request.at("arguments"), (json{{"id", "cd0"}}));
}

TEST_F(QmpClientTest, FailsOnlyTheCommandWhoseAnswerWasAnError) {
    const auto eject = start(client_->execute("eject", json{{"id", "cd0"}}));
    const auto query = start(client_->execute("query-status"));
    receive(R"({"error": {"class": "DeviceNotFound", "desc": "Device 'cd0' not found"}, "id": ")" + id_of(0) +
            "\"}");
    EXPECT_EQ((**eject).error().code, Errc::NotFound);
    EXPECT_EQ((**eject).error().message, "QEMU refused eject: Device 'cd0' not found");
    EXPECT_FALSE(*query);
    succeed(1, "{}");
    EXPECT_TRUE((**query).has_value());
}

TEST_F(QmpClientTest, GivesUpAfterTheTimeOutAndIgnoresTheLateAnswer) {
    const auto slow = start(client_->execute("query-block", json::object(), std::chrono::seconds{3}));
    clock_.advance(std::chrono::seconds{3});
    loop_.run_ready();
    EXPECT_EQ((**slow).error().code, Errc::Timeout);
    const auto next = start(client_->execute("query-status"));
    succeed(0, R"({"late": true})");
    EXPECT_FALSE(*next);
    succeed(1, R"({"status": "paused"})");
    EXPECT_EQ((**next)->at("status"), "paused");
}

TEST_F(QmpClientTest, HandsOutEventsBetweenAnswers) {
    const auto query = start(client_->execute("query-status"));
    receive(R"({"timestamp": {"seconds": 1, "microseconds": 2}, "event": "STOP"})");
    receive(R"({"event": "SHUTDOWN", "data": {"guest": true, "reason": "guest-shutdown"}})");
    EXPECT_FALSE(*query);
    ASSERT_EQ(events_.size(), 2U);
    EXPECT_EQ(events_[0].first, "STOP");
    EXPECT_EQ(events_[1].second.at("reason"), "guest-shutdown");
}

TEST_F(QmpClientTest, IgnoresAnswersToAnotherClientOfTheSameQemu) {
    const auto query = start(client_->execute("query-status"));
    const auto older = make_client();
    start(older->execute("query-status"));
    ASSERT_NE(id_of(0), id_of(1));
    succeed(1, R"({"status": "wrong"})");
    EXPECT_FALSE(*query);
}

TEST_F(QmpClientTest, GoesOnAfterLinesThatMakeNoSense) {
    const auto query = start(client_->execute("query-status"));
    for (const char* line : {"", "nonsense", "[1,2]", "{\"return\": 1}", "{\"return\": 1, \"id\": 7}",
                             "\xff\xfe{", "{\"event\": 5}", "{\"error\": \"text\"}", "{\"QMP\": null}", "{}"})
        receive(line);
    client_->on_bytes(std::string(kMaxQmpLine + 10, 'x') + "\n");
    succeed(0, "{}");
    EXPECT_TRUE((**query).has_value());
    EXPECT_TRUE(events_.empty());
}

TEST_F(QmpClientTest, EndsAllThatWaitsWhenItIsClosed) {
    const auto first = start(client_->execute("query-status"));
    const auto second = start(client_->execute("query-name"));
    client_->close(Error{Errc::Interrupted, "QEMU ended", {}, 0});
    loop_.run_ready();
    EXPECT_EQ((**first).error().code, Errc::Interrupted);
    EXPECT_EQ((**second).error().message, "QEMU ended");
    const auto later = start(client_->execute("cont"));
    loop_.run_ready();
    EXPECT_EQ((**later).error().code, Errc::Unavailable);
    EXPECT_EQ(sent_.size(), 2U);
}

TEST_F(QmpClientTest, EndsWhatWaitsWhenItIsDestroyed) {
    const auto query = start(client_->execute("query-status"));
    client_.reset();
    loop_.run_ready();
    EXPECT_EQ((**query).error().code, Errc::Interrupted);
    clock_.advance(std::chrono::minutes{1});
    loop_.run_ready();  // its timer is gone too
}

TEST_F(QmpClientTest, FailsACommandThatCouldNotBeSent) {
    refuse_ = true;
    const auto query = start(client_->execute("query-status"));
    loop_.run_ready();
    EXPECT_EQ((**query).error().message, "no way out");
    EXPECT_EQ(client_->pending(), 0U);
}

TEST_F(QmpClientTest, PassesADescriptorWithItsCommand) {
    UniqueFd null{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    start(client_->execute_with_fd("getfd", json{{"fdname", "f"}}, std::move(null)));
    EXPECT_TRUE(sent_.at(0).with_fd);
    start(client_->execute("closefd", json{{"fdname", "f"}}));
    EXPECT_FALSE(sent_.at(1).with_fd);
}

TEST_F(QmpClientTest, NegotiatesOnceQemuHasGreeted) {
    const auto negotiated = start(client_->negotiate());
    EXPECT_TRUE(sent_.empty());
    receive(
        R"({"QMP": {"version": {"qemu": {"major": 7, "minor": 2, "micro": 22}}, "capabilities": ["oob"]}})");
    ASSERT_EQ(sent_.size(), 1U);
    EXPECT_EQ(sent_[0].request.at("execute"), "qmp_capabilities");
    succeed(0, "{}");
    EXPECT_EQ((**negotiated)->at("version").at("qemu").at("major"), 7);
}

TEST_F(QmpClientTest, DoesNotWaitForAGreetingForever) {
    const auto negotiated = start(client_->negotiate(std::chrono::seconds{2}));
    clock_.advance(std::chrono::seconds{2});
    loop_.run_ready();
    EXPECT_EQ((**negotiated).error().code, Errc::Timeout);
}

}  // namespace
}  // namespace dormouse::vmm

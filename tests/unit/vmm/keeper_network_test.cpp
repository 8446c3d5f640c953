// SPDX-License-Identifier: Apache-2.0
#include "vmm/keeper_network.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hostd/base/file.h"
#include "vmm/json_fields.h"

namespace dormouse::vmm {
namespace {

// A shell script in the network process's place: it writes down its number and
// what it was told.
class KeeperNetworkTest : public ::testing::Test {
  protected:
    KeeperNetworkTest() {
        char pattern[] = "/tmp/dm-test-XXXXXX";
        folder_ = ::mkdtemp(pattern);
        script_ = folder_ / "netd";
        EXPECT_TRUE(write_file_atomic(
            script_,
            "#!/bin/sh\ncat >\"$1/config.new\"; mv \"$1/config.new\" \"$1/config\"\necho $$ >\"$1/pid.new\"; "
            "mv \"$1/pid.new\" \"$1/pid\"\nexec sleep 1000\n",
            0700));
    }
    ~KeeperNetworkTest() override {
        network_.reset();
        std::error_code error;
        std::filesystem::remove_all(folder_, error);
    }

    void begin(nlohmann::json config) {
        network_ = std::make_unique<KeeperNetwork>(loop_, spawner_, script_, folder_, std::move(config));
        network_->start();
    }
    // The number of the process, once another than `before` runs.
    pid_t wait_pid(pid_t before = 0) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (std::chrono::steady_clock::now() < deadline) {
            loop_.run_once(std::chrono::milliseconds{5});
            const auto text = read_file(folder_ / "pid");
            const pid_t pid = text && !text->empty() ? std::stoi(*text) : 0;
            if (pid != 0 && pid != before) return pid;
        }
        return 0;
    }
    std::string told() const {
        return text_field(parse_json(read_file(folder_ / "config").value_or("")), "say");
    }

    SystemClock clock_;
    EventLoop loop_{clock_};
    ForkSpawner spawner_;
    std::filesystem::path folder_;
    std::filesystem::path script_;
    std::unique_ptr<KeeperNetwork> network_;
};

TEST_F(KeeperNetworkTest, StartsAProcessAndTellsItItsConfiguration) {
    begin({{"say", "hello"}});
    EXPECT_GT(wait_pid(), 0);
    EXPECT_EQ(told(), "hello");
}

TEST_F(KeeperNetworkTest, StartsItAgainWhenItHasEndedWithWhatHoldsThen) {
    begin({{"say", "first"}});
    const auto first = wait_pid();
    network_->set_config({{"say", "second"}});
    ::kill(first, SIGKILL);
    const auto second = wait_pid(first);
    EXPECT_GT(second, 0);
    EXPECT_EQ(told(), "second");
    network_->set_config({{"say", "third"}});
    network_->restart();
    EXPECT_GT(wait_pid(second), 0);
    EXPECT_EQ(told(), "third");
}

TEST_F(KeeperNetworkTest, LeavesNoProcessBehind) {
    begin({{"say", "bye"}});
    const auto pid = wait_pid();
    network_.reset();
    EXPECT_EQ(::kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST_F(KeeperNetworkTest, GoesOnTryingWhenItCannotBeStarted) {
    std::filesystem::rename(script_, folder_ / "elsewhere");
    begin({{"say", "late"}});
    loop_.run_once(std::chrono::milliseconds{1});
    std::filesystem::rename(folder_ / "elsewhere", script_);
    EXPECT_GT(wait_pid(), 0);
}

}  // namespace
}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fake_qemu.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/file.h"
#include "hostd/base/random.h"
#include "vmm/machine.h"

namespace dormouse::vmm {

// A folder for one desktop, and the promise that nothing of it is left when the
// test ends: no process that names it, no zombie, no socket.
class MachineFixture : public ::testing::Test {
  protected:
    MachineFixture() {
        // What loses its parent becomes ours, so that we see zombies and end them.
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        char pattern[] = "/tmp/dm-test-XXXXXX";
        folder_ = ::mkdtemp(pattern);
        std::filesystem::create_directory(folder_ / "d");
    }
    ~MachineFixture() override {
        machine_.reset();
        loop_.run_ready();
        EXPECT_TRUE(wait_until([this] { return processes().empty(); })) << "a process is left";
        for (const auto pid : processes()) ::kill(pid, SIGKILL);
        std::error_code error;
        for (const auto& entry : std::filesystem::recursive_directory_iterator{folder_, error})
            EXPECT_FALSE(entry.is_socket()) << entry.path() << " is left";
        std::filesystem::remove_all(folder_, error);
    }

    std::filesystem::path run_folder() const { return folder_ / "r"; }
    std::filesystem::path desktop_folder() const { return folder_ / "d"; }

    LaunchOptions options() const {
        LaunchOptions options;
        options.id = "d-test";
        options.run_folder = run_folder();
        options.desktop_folder = desktop_folder();
        options.keeper_binary = std::filesystem::path{DORMOUSE_BIN_DIR} / "dormouse-keeper";
        return options;
    }
    LaunchOptions fake(const std::string& mode) const {
        auto result = options();
        result.qemu.argv = {this_program(), run_folder() / "qmp.sock", run_folder() / "agent.sock"};
        result.qemu.env = {{kFakeQemu, mode}};
        return result;
    }
    LaunchOptions real(std::vector<std::string> more = {}) const {
        auto result = options();
        result.qemu.argv = {
            "qemu-system-x86_64",
            "-M",
            "pc-q35-7.2",
            "-nodefaults",
            "-no-user-config",
            "-accel",
            "tcg",
            "-m",
            "64",
            "-S",
            "-uuid",
            uuid_,
            "-qmp",
            "unix:" + (run_folder() / "qmp.sock").string() + ",server=on,wait=off",
            "-device",
            "virtio-serial-pci",
            "-chardev",
            "socket,id=agent,server=on,wait=off,path=" + (run_folder() / "agent.sock").string(),
            "-device",
            "virtserialport,chardev=agent,name=org.dormouse.agent"};
        if (std::find(more.begin(), more.end(), "-display") == more.end())
            result.qemu.argv.insert(result.qemu.argv.end(), {"-display", "none"});
        result.qemu.argv.insert(result.qemu.argv.end(), more.begin(), more.end());
        return result;
    }

    void start(LaunchOptions launch) {
        take(loop_.run_until_complete(Machine::start(loop_, std::move(launch))));
    }
    void adopt() { take(loop_.run_until_complete(Machine::adopt(loop_, "d-test", run_folder()))); }
    void take(Result<std::shared_ptr<Machine>> made) {
        if (!made) throw std::runtime_error{made.error().message};  // ends the test, unlike an ASSERT here
        machine_ = std::move(*made);
        Machine::Listener listener;
        listener.on_exit = [this](ExitRecord record) { exits_.push_back(std::move(record)); };
        listener.on_event = [this](std::string name, nlohmann::json data) {
            events_.emplace_back(std::move(name), std::move(data));
        };
        machine_->set_listener(std::move(listener));
    }
    Result<nlohmann::json> qmp(std::string command, nlohmann::json arguments = nlohmann::json::object()) {
        return loop_.run_until_complete(machine_->qmp(std::move(command), std::move(arguments)));
    }
    void quit() {
        const auto ended = loop_.run_until_complete(machine_->quit());
        ASSERT_TRUE(ended) << ended.error().message;
    }
    std::size_t count_events(const std::string& name) const {
        return static_cast<std::size_t>(std::count_if(
            events_.begin(), events_.end(), [&](const auto& event) { return event.first == name; }));
    }

    // Runs the loop until `done` or for 20 s; gives what `done` says at the end.
    template <class Done>
    bool wait_until(Done done) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (!done() && std::chrono::steady_clock::now() < deadline)
            loop_.run_once(std::chrono::milliseconds{5});
        return done();
    }

    // All processes that have this test's folder in their command line; those
    // that have ended are reaped first, and then no longer there.
    std::vector<pid_t> processes() const {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        std::vector<pid_t> found;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator{"/proc", error}) {
            const auto name = entry.path().filename().string();
            if (name.find_first_not_of("0123456789") != std::string::npos) continue;
            // It may end in this moment.
            const auto text = read_file(entry.path() / "cmdline");
            if (text && text->find(folder_.string()) != std::string::npos) found.push_back(std::stoi(name));
        }
        return found;
    }

    const std::string uuid_ = random_uuid();  // other runs of this program are other machines
    SystemClock clock_;
    EventLoop loop_{clock_};
    std::filesystem::path folder_;
    std::shared_ptr<Machine> machine_;
    std::vector<ExitRecord> exits_;
    std::vector<std::pair<std::string, nlohmann::json>> events_;
};

}  // namespace dormouse::vmm

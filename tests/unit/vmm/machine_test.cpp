// SPDX-License-Identifier: Apache-2.0
// Machine and keeper against the real QEMU.
#include "vmm/machine.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <iostream>

#include "machine_fixture.h"

namespace dormouse::vmm {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class MachineTest : public MachineFixture {
  protected:
    std::string run_state() { return loop_.run_until_complete(machine_->run_state()).value_or("none"); }
    UniqueFd open_state(int flags) const {
        return UniqueFd{::open((folder_ / "state").c_str(), flags | O_CLOEXEC, 0600)};
    }
};

TEST_F(MachineTest, StartsRunsPausesAndQuits) {
    const auto begun = std::chrono::steady_clock::now();
    start(real());
    const auto took = std::chrono::steady_clock::now() - begun;
    RecordProperty("start_ms",
                   static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
    EXPECT_THAT(machine_->qemu_version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
    EXPECT_THAT(run_state(), ::testing::AnyOf("prelaunch", "paused"));
    EXPECT_TRUE(loop_.run_until_complete(machine_->resume()));
    EXPECT_EQ(run_state(), "running");
    EXPECT_TRUE(loop_.run_until_complete(machine_->pause()));
    EXPECT_EQ(run_state(), "paused");
    EXPECT_TRUE(wait_until([&] { return count_events("STOP") == 1 && count_events("RESUME") == 1; }));
    const auto ended = loop_.run_until_complete(machine_->quit());
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->to_text(), "exit code 0");
    EXPECT_EQ(ended->shutdown_reason, "host-qmp-quit");
}

TEST_F(MachineTest, RefusesWithQemusOwnWords) {
    start(real());
    const auto answer = qmp("device_del", {{"id", "nothing"}});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::NotFound);
    EXPECT_THAT(answer.error().message, HasSubstr("'nothing' not found"));
    EXPECT_EQ(qmp("no-such-command").error().code, Errc::Internal);
    quit();
}

TEST_F(MachineTest, CarriesTheLongestAnswer) {
    start(real());
    const auto schema = qmp("query-qmp-schema");
    ASSERT_TRUE(schema) << schema.error().message;
    EXPECT_GT(schema->size(), 500U);
    quit();
}

TEST_F(MachineTest, PassesSeveralDescriptorsAtOnce) {
    start(real());
    std::vector<std::shared_ptr<std::optional<Result<json>>>> answers;
    const auto pass = [](std::shared_ptr<Machine> machine, int number,
                         std::shared_ptr<std::optional<Result<json>>> out) -> Task<void> {
        json arguments;
        arguments["fdname"] = "fd" + std::to_string(number);
        UniqueFd fd{::open("/dev/null", O_RDWR | O_CLOEXEC)};
        out->emplace(co_await machine->qmp_with_fd("getfd", std::move(arguments), std::move(fd)));
    };
    for (int i = 0; i < 10; ++i) {
        answers.push_back(std::make_shared<std::optional<Result<json>>>());
        spawn(pass(machine_, i, answers.back()));
    }
    EXPECT_TRUE(wait_until([&] {
        return std::all_of(answers.begin(), answers.end(),
                           [](const auto& answer) { return answer->has_value(); });
    }));
    for (const auto& answer : answers) EXPECT_TRUE((*answer)->has_value()) << (*answer)->error().message;
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(qmp("closefd", {{"fdname", "fd" + std::to_string(i)}})) << i;
    quit();
}

TEST_F(MachineTest, ReportsAQemuThatWasKilled) {
    start(real());
    ASSERT_EQ(::kill(machine_->qemu_pid(), SIGKILL), 0);
    ASSERT_TRUE(wait_until([&] { return !exits_.empty(); }));
    EXPECT_EQ(exits_[0].to_text(), "signal 9 (Killed)");
    EXPECT_FALSE(exits_[0].requested);
    EXPECT_FALSE(machine_->alive());
    EXPECT_THAT(qmp("query-status").error().message, HasSubstr("signal 9 (Killed)"));
    const auto record = read_exit_record(desktop_folder());
    ASSERT_TRUE(record);
    EXPECT_EQ(record->to_text(), "signal 9 (Killed)");
    EXPECT_EQ(record->pid, machine_->qemu_pid());
}

TEST_F(MachineTest, FailsWhatIsPendingWhenQemuIsKilled) {
    start(real());
    ASSERT_EQ(::kill(machine_->qemu_pid(), SIGSTOP), 0);
    auto outcome = std::make_shared<std::optional<Result<json>>>();
    const auto ask = [](std::shared_ptr<Machine> machine,
                        std::shared_ptr<std::optional<Result<json>>> out) -> Task<void> {
        out->emplace(co_await machine->qmp("query-status"));
    };
    spawn(ask(machine_, outcome));
    loop_.run_ready();
    ASSERT_EQ(::kill(machine_->qemu_pid(), SIGKILL), 0);
    ASSERT_TRUE(wait_until([&] { return outcome->has_value(); }));
    EXPECT_EQ((*outcome)->error().code, Errc::Unavailable);
    EXPECT_THAT((*outcome)->error().message, HasSubstr("signal 9"));
}

TEST_F(MachineTest, QemuDoesNotOutliveItsKeeper) {
    start(real());
    ASSERT_EQ(::kill(machine_->keeper_pid(), SIGKILL), 0);
    ASSERT_TRUE(wait_until([&] { return !exits_.empty(); }));
    EXPECT_TRUE(exits_[0].keeper_lost);
    EXPECT_TRUE(wait_until([&] { return processes().empty(); }));
    EXPECT_EQ(loop_.run_until_complete(Machine::adopt(loop_, "d-test", run_folder())).error().code,
              Errc::NotFound);
    EXPECT_EQ(read_exit_record(desktop_folder()).error().code, Errc::NotFound);
}

TEST_F(MachineTest, OutlivesTheDaemonAndIsAdopted) {
    start(real());
    const auto pid = machine_->qemu_pid();
    EXPECT_TRUE(loop_.run_until_complete(machine_->resume()));
    EXPECT_TRUE(loop_.run_until_complete(machine_->pause()));
    machine_.reset();
    loop_.run_ready();
    EXPECT_EQ(processes().size(), 2U);
    adopt();
    EXPECT_EQ(machine_->qemu_pid(), pid);
    EXPECT_EQ(run_state(), "paused");
    quit();
}

TEST_F(MachineTest, LeavesARecordWhenItEndsWithoutADaemon) {
    start(real());
    const auto pid = machine_->qemu_pid();
    machine_.reset();
    loop_.run_ready();
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    ASSERT_TRUE(wait_until([&] { return processes().empty(); }));
    EXPECT_EQ(loop_.run_until_complete(Machine::adopt(loop_, "d-test", run_folder())).error().code,
              Errc::NotFound);
    EXPECT_EQ(read_exit_record(desktop_folder())->to_text(), "signal 9 (Killed)");
    start(real());  // and it can be started again
    EXPECT_EQ(read_exit_record(desktop_folder()).error().code, Errc::NotFound);
    quit();
}

TEST_F(MachineTest, TellsWhyQemuRefusesItsCommandLine) {
    const auto made = loop_.run_until_complete(Machine::start(loop_, real({"-device", "no-such-device"})));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("QEMU ended (exit code 1)"));
    EXPECT_THAT(made.error().message, HasSubstr("'no-such-device' is not a valid device model name"));
}

TEST_F(MachineTest, SavesAndRestoresThroughAFile) {
    start(real());
    EXPECT_TRUE(loop_.run_until_complete(machine_->resume()));
    EXPECT_TRUE(loop_.run_until_complete(machine_->pause()));
    const auto saved = loop_.run_until_complete(machine_->save_to(open_state(O_WRONLY | O_CREAT)));
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_GT(std::filesystem::file_size(folder_ / "state"), 10'000U);
    quit();
    start(real({"-incoming", "defer"}));
    EXPECT_EQ(run_state(), "inmigrate");
    const auto restored = loop_.run_until_complete(machine_->restore(open_state(O_RDONLY)));
    ASSERT_TRUE(restored) << restored.error().message;
    EXPECT_EQ(run_state(), "paused");
    EXPECT_TRUE(loop_.run_until_complete(machine_->resume()));
    EXPECT_EQ(run_state(), "running");
    quit();
}

TEST_F(MachineTest, TellsWhyAMemoryImageCannotBeRestored) {
    ASSERT_EQ(::write(open_state(O_WRONLY | O_CREAT).get(), "this is no migration stream", 27), 27);
    start(real({"-incoming", "defer"}));
    const auto restored = loop_.run_until_complete(machine_->restore(open_state(O_RDONLY)));
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, Errc::Corrupt);
    EXPECT_THAT(restored.error().message, HasSubstr("Not a migration stream"));
    EXPECT_TRUE(wait_until([&] { return !exits_.empty(); }));
}

// What the other end says within some seconds.
std::string answer_on(const UniqueFd& socket) {
    const timeval patience{10, 0};
    EXPECT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    std::array<char, 64> answer{};
    const auto got = ::recv(socket.get(), answer.data(), answer.size(), 0);
    return {answer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

TEST_F(MachineTest, OpensTheDisplaysConnection) {
    start(real({"-display", "dbus,p2p=yes", "-device", "virtio-gpu-pci"}));
    auto display = loop_.run_until_complete(machine_->open_display());
    ASSERT_TRUE(display) << display.error().message;
    EXPECT_EQ(display->protocol, DisplayProtocol::Dbus);
    // QEMU speaks D-Bus on it as a server: it answers the handshake.
    const std::string hello{"\0AUTH EXTERNAL 30\r\n", 19};
    ASSERT_EQ(::send(display->socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL), 19);
    EXPECT_THAT(answer_on(display->socket), HasSubstr("\r\n"));
    quit();
}

TEST_F(MachineTest, OpensAVncConnectionWhereThereIsNoDbus) {
    start(real({"-display", "none", "-vnc", "none", "-device", "virtio-gpu-pci"}));
    auto display = loop_.run_until_complete(machine_->open_display());
    ASSERT_TRUE(display) << display.error().message;
    EXPECT_EQ(display->protocol, DisplayProtocol::Vnc);
    EXPECT_EQ(answer_on(display->socket), "RFB 003.008\n");
    quit();
}

TEST_F(MachineTest, SendsInput) {
    start(real({"-device", "virtio-keyboard-pci"}));
    const auto event =
        json::parse(R"([{"type": "key", "data": {"down": true, "key": {"type": "qcode", "data": "a"}}}])");
    EXPECT_THAT(loop_.run_until_complete(machine_->send_input(event)).error().message,
                HasSubstr("not running"));
    EXPECT_TRUE(loop_.run_until_complete(machine_->resume()));
    EXPECT_TRUE(loop_.run_until_complete(machine_->send_input(event)));
    EXPECT_FALSE(loop_.run_until_complete(machine_->send_input(json::parse(R"([{"type": "nonsense"}])"))));
    quit();
}

TEST_F(MachineTest, KillsAtOnceAlsoWhenQemuHangs) {
    start(real());
    ASSERT_EQ(::kill(machine_->qemu_pid(), SIGSTOP), 0);
    const auto ended = loop_.run_until_complete(machine_->kill_now());
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->to_text(), "signal 9 (Killed)");
    EXPECT_TRUE(ended->requested);
}

TEST_F(MachineTest, RunsAsAnotherUser) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    constexpr uid_t kNobody = 65534;
    ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
    ASSERT_EQ(::chown(desktop_folder().c_str(), kNobody, kNobody), 0);
    auto launch = real();
    launch.uid = kNobody;
    launch.gid = kNobody;
    // Where the build folder is private, the keeper cannot be run from there.
    launch.keeper_binary = folder_ / "dormouse-keeper";
    std::filesystem::copy_file(options().keeper_binary, launch.keeper_binary);
    start(std::move(launch));
    for (const auto pid : {machine_->keeper_pid(), machine_->qemu_pid()}) {
        struct stat info {};
        ASSERT_EQ(::stat(("/proc/" + std::to_string(pid)).c_str(), &info), 0);
        EXPECT_EQ(info.st_uid, kNobody);
    }
    ASSERT_EQ(::kill(machine_->qemu_pid(), SIGKILL), 0);
    ASSERT_TRUE(wait_until([&] { return !exits_.empty(); }));
    EXPECT_EQ(read_exit_record(desktop_folder())->to_text(), "signal 9 (Killed)");
}

}  // namespace
}  // namespace dormouse::vmm

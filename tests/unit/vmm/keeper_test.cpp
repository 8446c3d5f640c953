// SPDX-License-Identifier: Apache-2.0
// The keeper against a QEMU that does as it is told.
#include "vmm/keeper.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "machine_fixture.h"
#include "vmm/json_fields.h"
#include "vmm/machine_leftovers.h"

namespace dormouse::vmm {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class KeeperTest : public MachineFixture {
  protected:
    // In its poll(): it has nothing left to do.
    static bool sleeps(pid_t pid) {
        const auto text = read_file("/proc/" + std::to_string(pid) + "/stat");
        return text && text->find(") S ") != std::string::npos;
    }
    static long resident_kib(pid_t pid) {
        const auto text = read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
        const auto at = text.find("VmRSS:");
        return at == std::string::npos ? 0 : std::stol(text.substr(at + 6));
    }
    // A daemon's connection without a Machine behind it.
    struct Daemon {
        explicit Daemon(EventLoop& loop, const std::filesystem::path& run_folder) {
            auto socket = connect_unix(keeper_socket(run_folder), SOCK_SEQPACKET);
            EXPECT_TRUE(socket);
            if (!socket) return;
            KeeperLink::Handlers handlers;
            handlers.on_qmp_line = [this](std::string line, UniqueFd) { lines.push_back(std::move(line)); };
            handlers.on_guest = [this](std::string_view bytes) { guest += bytes; };
            handlers.on_guest_credit = [this](std::size_t bytes) { credit += bytes; };
            handlers.on_control = [this](const json& message) { control.push_back(message); };
            handlers.on_closed = [this] { closed = true; };
            link = std::make_unique<KeeperLink>(loop, std::move(*socket), std::move(handlers));
        }
        bool heard(const std::string& type) const {
            return std::any_of(control.begin(), control.end(),
                               [&](const json& message) { return text_field(message, "type") == type; });
        }
        bool has_line(const std::string& part) const {
            return std::any_of(lines.begin(), lines.end(),
                               [&](const std::string& line) { return line.find(part) != std::string::npos; });
        }
        std::unique_ptr<KeeperLink> link;
        std::vector<std::string> lines;
        std::string guest;
        std::vector<json> control;
        std::size_t credit = 0;
        bool closed = false;
    };
};

TEST_F(KeeperTest, StartsQemuAndEndsItOnRequest) {
    start(fake("plain"));
    EXPECT_EQ(machine_->qemu_version(), "1.2.3");
    EXPECT_EQ(processes().size(), 2U);
    EXPECT_EQ(::getsid(machine_->keeper_pid()), ::getsid(machine_->qemu_pid()));
    EXPECT_NE(::getsid(machine_->keeper_pid()), ::getsid(0));
    const auto ended = loop_.run_until_complete(machine_->quit());
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_TRUE(ended->requested);
    EXPECT_EQ(ended->to_text(), "exit code 0");
    EXPECT_EQ(ended->shutdown_reason, "host-qmp-quit");
    EXPECT_TRUE(wait_until([&] { return exits_.size() == 1; }));
    EXPECT_FALSE(std::filesystem::exists(run_folder()));
    EXPECT_EQ(qmp("query-status").error().code, Errc::Unavailable);
    EXPECT_TRUE(loop_.run_until_complete(machine_->quit()));  // again is fine
}

TEST_F(KeeperTest, UnderstandsAQemuThatWritesByteByByte) {
    start(fake("slow"));
    EXPECT_EQ(*qmp("x-length", {{"text", std::string(1000, 'x')}}), 1000);
    quit();
}

TEST_F(KeeperTest, CarriesLongCommandsAndLongAnswers) {
    start(fake("plain"));
    EXPECT_EQ(*qmp("x-length", {{"text", std::string(1'000'000, 'x')}}), 1'000'000);
    EXPECT_EQ(qmp("x-big", {{"size", 3'000'000}})->get<std::string>().size(), 3'000'000U);
    quit();
}

TEST_F(KeeperTest, PassesADescriptorToQemu) {
    start(fake("plain"));
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd writer{ends[1]};
    ASSERT_EQ(::write(writer.get(), "hello", 5), 5);
    const auto answer =
        loop_.run_until_complete(machine_->qmp_with_fd("x-read-fd", json::object(), UniqueFd{ends[0]}));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer, "hello");
    quit();
}

TEST_F(KeeperTest, KeepsTheLastEventsForTheNextDaemon) {
    start(fake("plain"));
    const auto keeper = machine_->keeper_pid();
    const auto qemu = machine_->qemu_pid();
    machine_.reset();
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    const UniqueFd reader{ends[0]};
    {
        Daemon short_lived{loop_, run_folder()};
        short_lived.link->send_qmp_line(R"({"execute": "x-events", "arguments": {"count": 500}, "id": "z"})",
                                        UniqueFd{ends[1]});
    }
    char byte = 0;
    ASSERT_TRUE(wait_until([&] { return ::read(reader.get(), &byte, 1) == 0; }));  // all said
    ASSERT_TRUE(wait_until([&] { return sleeps(keeper); }));                       // all heard
    adopt();
    EXPECT_EQ(machine_->qemu_pid(), qemu);
    EXPECT_TRUE(qmp("query-status"));
    ASSERT_TRUE(wait_until([&] { return events_.size() >= Keeper::kKeptEvents; }));
    EXPECT_EQ(events_.size(), Keeper::kKeptEvents);
    EXPECT_EQ(events_.front().second.at("number"), 500 - Keeper::kKeptEvents);
    EXPECT_EQ(events_.back().second.at("number"), 499);
    quit();
}

TEST_F(KeeperTest, ForgetsHalfALineOfADaemonThatWasKilled) {
    start(fake("plain"));
    {
        auto socket = connect_unix(keeper_socket(run_folder()), SOCK_SEQPACKET);  // replaces the first
        ASSERT_TRUE(socket);
        const std::string half = "q{\"execute\": \"x-length\", \"argum";
        ASSERT_EQ(::send(socket->get(), half.data(), half.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(half.size()));
    }
    adopt();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(qmp("query-status"));
    quit();
}

TEST_F(KeeperTest, ServesTheNewestDaemon) {
    start(fake("plain"));
    Daemon newer{loop_, run_folder()};
    ASSERT_TRUE(wait_until([&] { return newer.heard("hello"); }));
    EXPECT_EQ(qmp("query-status").error().code, Errc::Unavailable);
    newer.link->send_qmp_line(R"({"execute": "query-status", "id": "mine"})");
    EXPECT_TRUE(wait_until([&] { return newer.has_line("mine"); }));
    newer.link->send_control({{"type", "status"}});
    EXPECT_TRUE(wait_until([&] { return newer.heard("status"); }));
    newer.link.reset();
    adopt();
    quit();
}

TEST_F(KeeperTest, EndsAQemuThatHangsAfterTheGrace) {
    start(fake("plain"));
    spawn(machine_->qmp("x-hang"));
    const auto ended = loop_.run_until_complete(machine_->quit(std::chrono::milliseconds{100}));
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->to_text(), "signal 9 (Killed)");
    EXPECT_TRUE(ended->requested);
}

TEST_F(KeeperTest, BoundsWhatWaitsForAQemuThatHangs) {
    start(fake("plain"));
    spawn(machine_->qmp("x-hang"));
    const std::string megabyte(1 << 20, 'x');
    auto last = std::make_shared<std::optional<Result<json>>>();
    const auto send = [](std::shared_ptr<Machine> machine, std::string text,
                         std::shared_ptr<std::optional<Result<json>>> out) -> Task<void> {
        json arguments;
        arguments["text"] = std::move(text);
        out->emplace(co_await machine->qmp("x-length", std::move(arguments), std::chrono::seconds{60}));
    };
    for (int i = 0; i < 24; ++i) spawn(send(machine_, megabyte, last));
    ASSERT_TRUE(wait_until([&] { return last->has_value(); }));
    EXPECT_EQ((*last)->error().code, Errc::Unavailable);
    EXPECT_THAT((*last)->error().message, HasSubstr("does not read"));
    EXPECT_TRUE(loop_.run_until_complete(machine_->kill_now()));  // still gets through
}

TEST_F(KeeperTest, BoundsWhatWaitsForADaemonThatDoesNotRead) {
    start(fake("plain"));
    const auto keeper = machine_->keeper_pid();
    const auto qemu = machine_->qemu_pid();
    machine_.reset();
    auto silent = connect_unix(keeper_socket(run_folder()), SOCK_SEQPACKET);
    ASSERT_TRUE(silent);
    const std::string request =
        R"(Q{"execute": "x-events", "arguments": {"count": 500, "size": 10000}, "id": "z"})";
    ASSERT_EQ(::send(silent->get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    // 5 MB of events: QEMU waits, the keeper holds a megabyte, and is not stuck.
    ASSERT_TRUE(wait_until([&] { return sleeps(keeper) && sleeps(qemu); }));
    EXPECT_LT(resident_kib(keeper), 200'000);  // much of it the sanitizer's
    Daemon next{loop_, run_folder()};
    EXPECT_TRUE(wait_until([&] { return next.has_line("\"z\""); }));
    next.link->send_control({{"type", "end"}, {"grace_ms", 0}});
    EXPECT_TRUE(wait_until([&] { return next.heard("exit"); }));
}

TEST_F(KeeperTest, EchoesGuestBytesAndGrantsCredit) {
    start(fake("plain"));
    machine_.reset();
    Daemon daemon{loop_, run_folder()};
    std::string sent;
    for (int i = 0; i < 4; ++i) sent += std::string(50'000, static_cast<char>('a' + i));
    daemon.link->send_guest(sent);
    // The machine's own greeting to the guest may come back before it.
    EXPECT_TRUE(wait_until([&] { return daemon.guest.ends_with(sent); }));
    EXPECT_TRUE(wait_until([&] { return daemon.credit >= sent.size(); }));
    daemon.link->send_control({{"type", "end"}, {"grace_ms", 0}});
    EXPECT_TRUE(wait_until([&] { return daemon.closed; }));
}

TEST_F(KeeperTest, AGuestThatDoesNotReadDoesNotHoldUpTheMonitor) {
    start(fake("plain"));
    machine_.reset();
    Daemon daemon{loop_, run_folder()};
    daemon.link->send_qmp_line(R"({"execute": "x-guest", "arguments": {"read": false}, "id": "a"})");
    ASSERT_TRUE(wait_until([&] { return daemon.has_line("\"a\""); }));
    for (int i = 0; i < 40; ++i) daemon.link->send_guest(std::string(50'000, 'g'));  // far beyond the window
    daemon.link->send_qmp_line(R"({"execute": "query-status", "id": "b"})");
    EXPECT_TRUE(wait_until([&] { return daemon.has_line("\"b\""); }));
    EXPECT_LT(daemon.credit, 1'000'000U);
    daemon.link->send_control({{"type", "end"}, {"grace_ms", 0}});
    EXPECT_TRUE(wait_until([&] { return daemon.closed; }));
}

TEST_F(KeeperTest, TellsWhatAQemuSaidThatDoesNotStart) {
    const auto made = loop_.run_until_complete(Machine::start(loop_, fake("fail")));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::Unavailable);
    EXPECT_THAT(made.error().message, HasSubstr("cannot start desktop d-test: QEMU ended (exit code 3)"));
    EXPECT_THAT(made.error().message, HasSubstr("cannot set up the"));
    const auto record = read_exit_record(desktop_folder());
    ASSERT_TRUE(record);
    EXPECT_EQ(record->status.code, 3);
    EXPECT_EQ(record->stderr_tail.size(), OutputLog::kLines);
    EXPECT_FALSE(record->requested);
}

TEST_F(KeeperTest, GivesUpAQemuThatNeverAnswers) {
    auto launch = fake("deaf");
    launch.timeout = std::chrono::milliseconds{300};
    const auto made = loop_.run_until_complete(Machine::start(loop_, std::move(launch)));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("did not answer on its monitor in time"));
}

TEST_F(KeeperTest, TellsThatAProgramIsMissing) {
    auto launch = fake("plain");
    launch.qemu.argv[0] = "no-such-qemu";
    auto made = loop_.run_until_complete(Machine::start(loop_, std::move(launch)));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::Unavailable);
    EXPECT_THAT(made.error().message, HasSubstr("cannot run no-such-qemu"));

    launch = fake("plain");
    launch.keeper_binary = "/nowhere/dormouse-keeper";
    made = loop_.run_until_complete(Machine::start(loop_, std::move(launch)));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("cannot run /nowhere/dormouse-keeper"));
    EXPECT_FALSE(std::filesystem::exists(run_folder()));
    EXPECT_FALSE(std::filesystem::exists(exit_file(desktop_folder())));
}

TEST_F(KeeperTest, RefusesASecondStartOfTheSameDesktop) {
    start(fake("plain"));
    const auto second = loop_.run_until_complete(Machine::start(loop_, fake("plain")));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::Conflict);
    EXPECT_TRUE(qmp("query-status"));
    quit();
}

TEST_F(KeeperTest, EndsQemuWhenItIsTerminated) {
    start(fake("plain"));
    ASSERT_EQ(::kill(machine_->keeper_pid(), SIGTERM), 0);
    ASSERT_TRUE(wait_until([&] { return !exits_.empty(); }));
    EXPECT_EQ(exits_[0].to_text(), "exit code 0");
    EXPECT_TRUE(exits_[0].requested);
}

TEST_F(KeeperTest, HandsNoDescriptorsOfTheDaemonOn) {
    const UniqueFd leaked{::open("/dev/null", O_RDONLY)};  // without O_CLOEXEC, by mistake
    ASSERT_TRUE(leaked);
    start(fake("plain"));
    std::set<std::string> names;
    for (const auto pid : {machine_->keeper_pid(), machine_->qemu_pid()})
        for (const auto& entry :
             std::filesystem::directory_iterator{"/proc/" + std::to_string(pid) + "/fd"}) {
            const auto fd = std::stoi(entry.path().filename());
            std::error_code error;
            if (fd > 2) names.insert(std::filesystem::read_symlink(entry.path(), error));
        }
    EXPECT_EQ(names.count("/dev/null"), 0U);
    quit();
}

TEST_F(KeeperTest, LeftoversAreFoundAndRemoved) {
    auto launch = fake("plain");
    launch.qemu.argv.insert(launch.qemu.argv.end(), {"-uuid", uuid_});
    start(std::move(launch));
    const auto keeper = machine_->keeper_pid();
    const auto qemu = machine_->qemu_pid();
    machine_.reset();
    auto found = find_leftovers(folder_);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, "d-test");
    EXPECT_EQ(found[0].keeper_pid, keeper);
    EXPECT_EQ(found[0].qemu_pid, qemu);
    EXPECT_EQ(found[0].desktop_folder, desktop_folder());
    // A stale number: the process is another one, and stays.
    auto stale = found[0];
    stale.keeper_pid = stale.qemu_pid = ::getpid();
    stale.run_folder = folder_ / "none";
    EXPECT_TRUE(remove_leftover(stale));
    EXPECT_TRUE(remove_leftover(found[0]));
    EXPECT_TRUE(find_leftovers(folder_).empty());
    EXPECT_FALSE(std::filesystem::exists(run_folder()));
}

}  // namespace
}  // namespace dormouse::vmm

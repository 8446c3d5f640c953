// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "hostd/base/file.h"
#include "tests/unit/hostd/cli/command_line.h"

namespace dormouse::cli {
namespace {

using testing::HasSubstr;

// A process that holds the lock as the daemon does, until SIGTERM.
class FakeDaemonProcess {
  public:
    explicit FakeDaemonProcess(const std::filesystem::path& home) {
        std::filesystem::create_directories(home);
        int ready[2];
        EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
        pid_ = ::fork();
        if (pid_ == 0) hold(home / "daemon.lock", ready[1]);
        ::close(ready[1]);
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        ::close(ready[0]);
    }
    ~FakeDaemonProcess() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    FakeDaemonProcess(const FakeDaemonProcess&) = delete;
    FakeDaemonProcess& operator=(const FakeDaemonProcess&) = delete;

  private:
    [[noreturn]] static void hold(const std::filesystem::path& file, int ready) {
        const auto lock = lock_file(file);
        if (!lock || !write_all(lock->get(), std::to_string(::getpid()) + "\n") || !write_all(ready, "x"))
            ::_exit(1);
        for (;;) ::pause();
    }
    pid_t pid_ = -1;
};

TEST(Down, IsFineWhenNothingRuns) {
    CommandLineRun dormouse;
    EXPECT_EQ(dormouse({"down"}), 0);
    EXPECT_EQ(dormouse.out, "Nothing runs\n");
    EXPECT_FALSE(std::filesystem::exists(dormouse.home));
}

TEST(Down, BelievesNoPidWhoseLockIsFree) {
    CommandLineRun dormouse;
    std::filesystem::create_directories(dormouse.home);
    ASSERT_TRUE(write_file_atomic(dormouse.home / "daemon.lock", std::to_string(::getpid()) + "\n"));
    EXPECT_EQ(dormouse({"down"}), 0);  // and this test is still there
    EXPECT_EQ(dormouse.out, "Nothing runs\n");
}

TEST(Down, SignalsNobodyWhoDoesNotHoldTheLock) {
    CommandLineRun dormouse;
    std::filesystem::create_directories(dormouse.home);
    const auto lock = lock_file(dormouse.home / "daemon.lock");
    ASSERT_TRUE(lock && write_all(lock->get(), "1\n"));
    EXPECT_EQ(dormouse({"down"}), 6);
    EXPECT_THAT(dormouse.err, HasSubstr("by no process that can be looked at"));
}

TEST(Down, StopsDesktopsThenTheDaemon) {
    FakeDaemon daemon;
    daemon.answers(200,
                   schema::to_json(schema::DesktopList{{sample_desktop(), sample_desktop("b", "stopped")}}));
    daemon.answers(200, schema::to_json(sample_desktop()));
    daemon.answers(202, schema::to_json(sample_desktop("research", "stopping")));
    daemon.answers(200, schema::to_json(sample_desktop("research", "stopping")));
    daemon.answers(200, schema::to_json(sample_desktop("research", "stopped")));
    CommandLineRun dormouse{daemon};
    dormouse.waits_for_process = true;
    const FakeDaemonProcess process{dormouse.home};
    EXPECT_EQ(dormouse({"down"}), 0) << dormouse.err;
    EXPECT_EQ(dormouse.out, "research is stopped\nThe daemon has ended\n");
    EXPECT_EQ(daemon.asked().at(2), "POST /v1/desktops/d-1a2b3c4d5e/stop");
    EXPECT_TRUE(lock_file(dormouse.home / "daemon.lock"));
}

TEST(Down, EndsADaemonThatDoesNotAnswerButSaysSo) {
    CommandLineRun dormouse;
    dormouse.waits_for_process = true;
    const FakeDaemonProcess process{dormouse.home};
    EXPECT_EQ(dormouse({"down"}), 1);
    EXPECT_THAT(dormouse.err, HasSubstr("the daemon has ended, but not all desktops were stopped"));
}

TEST(Doctor, FailsWithoutATemplateAndSaysWhatToDo) {
    CommandLineRun dormouse;
    EXPECT_EQ(dormouse({"doctor"}), 1);
    EXPECT_THAT(dormouse.out, HasSubstr("none is baked"));
    EXPECT_THAT(dormouse.out, HasSubstr("./dormouse up"));
    EXPECT_EQ(dormouse({"doctor", "--json"}), 1);
    EXPECT_THAT(dormouse.out, HasSubstr(R"("healthy":false)"));
}

TEST(Doctor, SeesAWideOpenTokenFile) {
    CommandLineRun dormouse;
    std::filesystem::create_directories(dormouse.home);
    ASSERT_TRUE(write_file_atomic(dormouse.home / "admin.token", "dm_x\n", 0644));
    EXPECT_EQ(dormouse({"doctor"}), 1);
    EXPECT_THAT(dormouse.out, HasSubstr("admin.token is open to others (0644)"));
}

}  // namespace
}  // namespace dormouse::cli

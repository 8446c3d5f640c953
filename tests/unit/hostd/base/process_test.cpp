// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "hostd/base/file.h"

namespace dormouse {
namespace {

using namespace std::chrono_literals;

TEST(Process, GivesOutputAndExitCode) {
    const auto run = run_command({.argv = {"sh", "-c", "echo out; echo err >&2; exit 3"}});
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->status.code, 3);
    EXPECT_EQ(run->output, "out\nerr\n");
    EXPECT_EQ(run->status.to_text(), "exit code 3");
}

TEST(Process, AMissingProgramIsAnErrorThatNamesIt) {
    const auto run = run_command({.argv = {"no-such-program-here"}});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, Errc::NotFound);
    EXPECT_NE(run.error().message.find("no-such-program-here"), std::string::npos);
}

TEST(Process, ATimeoutEndsItWithItsChildren) {
    const auto start = std::chrono::steady_clock::now();
    const auto run = run_command({.argv = {"sh", "-c", "sleep 300 & wait"}}, {.timeout = 300ms});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, Errc::Timeout);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 60s);
}

TEST(Process, IsCancelledWhenAsked) {
    const auto run =
        run_command({.argv = {"sleep", "300"}}, {.timeout = 200s, .cancelled = [] { return true; }});
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, Errc::Interrupted);
}

TEST(Process, HandsOutLinesAsTheyCome) {
    std::vector<std::string> lines;
    const auto run = run_command({.argv = {"printf", "one\\ntwo\\rthree"}},
                                 {.on_line = [&](std::string_view line) { lines.emplace_back(line); }});
    ASSERT_TRUE(run);
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three"}));
}

TEST(Process, AFailureCarriesTheLastLines) {
    const auto run = run_checked({.argv = {"sh", "-c", "echo disk is full; exit 1"}});
    ASSERT_FALSE(run);
    EXPECT_NE(run.error().message.find("disk is full"), std::string::npos);
}

TEST(Process, PlacesDescriptorsAndAddsToTheEnvironment) {
    int fds[2];
    ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    UniqueFd reader{fds[0]};
    UniqueFd writer{fds[1]};
    ForkSpawner spawner;
    auto child = spawner.start({.argv = {"sh", "-c", "echo $GREETING >&7"},
                                .env = {{"GREETING", "hello"}},
                                .descriptors = {{7, writer.get()}}});
    ASSERT_TRUE(child) << child.error().message;
    writer.reset();
    char buffer[16] = {};
    EXPECT_EQ(::read(reader.get(), buffer, sizeof buffer), 6);
    EXPECT_STREQ(buffer, "hello\n");
    EXPECT_TRUE(wait_exit(*child).ok());
}

TEST(Process, AKilledOneSaysBySignal) {
    ForkSpawner spawner;
    auto child = spawner.start({.argv = {"sleep", "300"}, .new_session = true});
    ASSERT_TRUE(child);
    ::kill(child->pid, SIGKILL);
    EXPECT_EQ(wait_exit(*child).to_text(), "signal 9 (Killed)");
}

TEST(Process, RunsAsAnotherUserFromAFolderThatUserMayNotEnter) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    std::string pattern = "/tmp/dormouse-test-XXXXXX";  // mkdtemp makes it 0700
    const std::filesystem::path folder = ::mkdtemp(pattern.data());
    std::filesystem::copy_file("/usr/bin/id", folder / "id");
    const auto run = run_command({.argv = {(folder / "id").string(), "-u"}, .uid = 65534, .gid = 65534});
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->output, "65534\n");
}

}  // namespace
}  // namespace dormouse

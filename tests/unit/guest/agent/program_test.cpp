// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "guest/protocol/messages.h"

namespace dormouse::agent {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class ProgramTest : public testing::Test {
  protected:
    ProgramTest() { ::signal(SIGPIPE, SIG_IGN); }  // as the agent's main() does

    ProgramOutcome run(const std::string& line, std::string input = {}, Duration timeout = 60s) {
        CommandLine command;
        command.argv = {"/bin/sh", "-c", line};
        auto outcome = loop.run_until_complete(run_program(loop, command, std::move(input), timeout));
        EXPECT_TRUE(outcome);
        return outcome ? *outcome : ProgramOutcome{};
    }

    SystemClock clock;
    EventLoop loop{clock};
};

TEST_F(ProgramTest, KeepsTheTwoOutputsApartAndGivesTheExitCode) {
    const auto outcome = run("echo out; echo err >&2; exit 7");
    EXPECT_EQ(outcome.out, "out\n");
    EXPECT_EQ(outcome.err, "err\n");
    EXPECT_EQ(outcome.status.code, 7);
    EXPECT_EQ(outcome.status.signal, 0);
    EXPECT_FALSE(outcome.timed_out);
}

TEST_F(ProgramTest, GivesTheSignalThatEndedIt) {
    EXPECT_EQ(run("kill -TERM $$").status.signal, SIGTERM);
}

TEST_F(ProgramTest, FeedsStandardInputOfAnySizeAndThenEndsIt) {
    const std::string input(1 << 20, 'x');
    EXPECT_EQ(run("wc -c", input).out, "1048576\n");
    EXPECT_EQ(run("cat").out, "");
}

TEST_F(ProgramTest, DoesNotMindAProgramThatDoesNotReadItsInput) {
    EXPECT_EQ(run("exec 0<&-; echo done", std::string(1 << 20, 'x')).out, "done\n");
}

TEST_F(ProgramTest, EndsAProgramAndItsChildrenWhenTheTimeIsUp) {
    const auto outcome = run("echo begun; sleep 1000 & sleep 1000", {}, 300ms);
    EXPECT_TRUE(outcome.timed_out);
    EXPECT_EQ(outcome.out, "begun\n");
    EXPECT_EQ(outcome.status.signal, SIGTERM);
}

TEST_F(ProgramTest, KillsAProgramThatDoesNotWantToEnd) {
    const auto outcome = run("trap '' TERM; while :; do sleep 1; done", {}, 200ms);
    EXPECT_TRUE(outcome.timed_out);
    EXPECT_EQ(outcome.status.signal, SIGKILL);
}

TEST_F(ProgramTest, DoesNotWaitForAChildThatHoldsTheOutputOpen) {
    const auto outcome = run("sleep 30 & echo left");
    EXPECT_EQ(outcome.out, "left\n");
    EXPECT_FALSE(outcome.timed_out);
}

TEST_F(ProgramTest, ReportsAProgramThatIsNotThere) {
    CommandLine command;
    command.argv = {"/no/such/program"};
    const auto outcome = loop.run_until_complete(run_program(loop, command, {}, 1s));
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message, HasSubstr("/no/such/program"));
}

TEST_F(ProgramTest, KeepsHeadAndTailOfAnEndlessOutputInBoundedMemory) {
    const auto outcome = run("echo first; head -c 20000000 /dev/zero | tr '\\0' a; echo; echo last");
    EXPECT_THAT(outcome.out, StartsWith("first\n"));
    EXPECT_TRUE(outcome.out.ends_with("\nlast\n"));
    EXPECT_LT(outcome.out.size(), guest::kMaxOutput + 100);
    EXPECT_EQ(outcome.out_left_out, 6 + 20000000 + 1 + 5 - guest::kMaxOutput);
}

TEST(OutputKeeper, LeavesOutNothingThatFits) {
    OutputKeeper keeper{10};
    keeper.add("0123");
    keeper.add("456789");
    EXPECT_EQ(keeper.take(), "0123456789");
    EXPECT_EQ(keeper.left_out(), 0U);
}

TEST(OutputKeeper, SaysHowMuchIsMissingInTheMiddle) {
    OutputKeeper keeper{4};
    for (const char c : std::string{"abcdefghij"}) keeper.add(std::string(1, c));
    EXPECT_EQ(keeper.take(), "ab\n[... 6 bytes left out ...]\nij");
    EXPECT_EQ(keeper.left_out(), 6U);
}

}  // namespace
}  // namespace dormouse::agent

// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::desktop {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class OperationsTest : public testing::Test {
  protected:
    OperationHandle begin(const std::string& kind = "template.build") {
        return operations_->begin({.kind = kind, .token = "t-1", .desktop = {}, .image = {}}).value();
    }
    Result<OperationInfo> wait(const OperationId& id, Duration longest, Cancel gone = {}) {
        return loop_.run_until_complete(operations_->wait(id, longest, gone));
    }

    ManualClock clock_;
    EventLoop loop_{clock_};
    std::optional<Operations> operations_{std::in_place, loop_,
                                          OperationLimits{.finished = 3, .log_bytes = 100}};
};

TEST_F(OperationsTest, OneGoesFromItsStepsToItsEnd) {
    std::vector<std::string> seen;
    operations_->set_listener([&](const OperationInfo& info) {
        seen.push_back(std::string{operation_state_name(info.state)} + " " + info.step);
    });
    auto operation = begin();
    operation.set_step("packages", 0.25);
    operation.set_step("packages", 0.25);  // nothing new, nothing said
    operation.set_step("disk", 7.0);
    EXPECT_EQ(operation.info().progress, 1.0);
    operation.finish(Result<>{});
    const auto info = operations_->find(operation.id()).value();
    EXPECT_EQ(info.state, OperationState::Succeeded);
    EXPECT_EQ(info.token, "t-1");
    EXPECT_TRUE(info.finished_at);
    EXPECT_TRUE(info.result);
    EXPECT_THAT(seen, ElementsAre("running ", "running packages", "running disk", "succeeded disk"));
    operation.finish(Result<>{fail(Errc::Io, "too late")});
    EXPECT_EQ(operation.info().state, OperationState::Succeeded);
}

TEST_F(OperationsTest, AnErrorAfterACancelIsCancelledAndBeforeItFailed) {
    auto failing = begin();
    failing.finish(Result<>{fail(Errc::Io, "no space")});
    EXPECT_EQ(failing.info().state, OperationState::Failed);
    EXPECT_EQ(failing.info().error->message, "no space");
    EXPECT_EQ(operations_->cancel(failing.id()).error().code, Errc::Conflict);

    auto cancelled = begin();
    bool told = false;
    cancelled.cancel().on_cancel([&] { told = true; });
    EXPECT_TRUE(operations_->cancel(cancelled.id())->cancelling);
    EXPECT_TRUE(told);
    EXPECT_EQ(cancelled.info().state, OperationState::Running) << "until whoever does it has stopped";
    EXPECT_TRUE(operations_->cancel(cancelled.id())) << "a second time changes nothing";
    cancelled.finish(Result<>{fail(Errc::Interrupted, "stopped")});
    EXPECT_EQ(cancelled.info().state, OperationState::Cancelled);
}

TEST_F(OperationsTest, OneThatNobodyFinishesHasFailed) {
    std::optional<OperationHandle> operation{begin()};
    const auto id = operation->id();
    operation.reset();
    const auto info = operations_->find(id).value();
    EXPECT_EQ(info.state, OperationState::Failed);
    EXPECT_EQ(info.error->code, Errc::Internal);
}

TEST_F(OperationsTest, AHandleThatOutlivesThemIsHarmless) {
    auto operation = begin();
    operations_.reset();
    operation.set_step("alone");
    operation.append_log("alone");
    operation.finish(Result<>{});
}

TEST_F(OperationsTest, WaitingEndsWithTheOperationTheTimeOrTheClient) {
    auto operation = begin();
    loop_.after(0s, [&] { operation.finish(Result<>{}); });
    EXPECT_EQ(wait(operation.id(), 1min)->state, OperationState::Succeeded);
    EXPECT_EQ(wait(operation.id(), 1min)->state, OperationState::Succeeded) << "at once, since it has ended";

    auto slow = begin();
    EXPECT_EQ(wait(slow.id(), 0s)->state, OperationState::Running);
    loop_.post([&] { clock_.advance(61s); });
    EXPECT_EQ(wait(slow.id(), 1min)->state, OperationState::Running);
    Cancel gone;
    loop_.post([&]() mutable { gone.cancel(); });
    EXPECT_EQ(wait(slow.id(), 1h, gone)->state, OperationState::Running);
    EXPECT_EQ(wait(*OperationId::parse("op-none"), 1s).error().code, Errc::NotFound);
}

TEST_F(OperationsTest, FinishedOnesAreForgottenByNumberAndByAge) {
    std::vector<OperationId> ids;
    for (int i = 0; i < 5; ++i) {
        auto operation = begin();
        operation.finish(Result<>{});
        ids.push_back(operation.id());
    }
    auto running = begin();
    const auto list = operations_->list();
    ASSERT_EQ(list.size(), 4u);
    EXPECT_EQ(list.front().id, running.id()) << "the newest first";
    EXPECT_EQ(operations_->find(ids[1]).error().code, Errc::NotFound);
    EXPECT_TRUE(operations_->find(ids[2]));
    clock_.advance(1h);
    EXPECT_EQ(operations_->list().size(), 1u) << "what runs is never forgotten";
}

TEST_F(OperationsTest, TooManyAtOnceAreRefused) {
    operations_.emplace(loop_, OperationLimits{.running = 1});
    auto one = begin();
    EXPECT_EQ(operations_->begin({.kind = "x", .token = "t", .desktop = {}, .image = {}}).error().code,
              Errc::Unavailable);
    one.finish(Result<>{});
    EXPECT_TRUE(operations_->begin({.kind = "x", .token = "t", .desktop = {}, .image = {}}));
}

TEST_F(OperationsTest, TheLogIsReadInPartsAndLosesItsBeginning) {
    auto operation = begin();
    operation.append_log("one\x1b[31m");
    operation.append_log("zw\xf6lf \xc3\xa9");
    const auto all = operations_->log(operation.id(), 0).value();
    EXPECT_EQ(all.text, "one [31m\nzw\xef\xbf\xbdlf \xc3\xa9\n");
    EXPECT_EQ(all.next_offset, all.text.size());
    EXPECT_FALSE(all.finished);
    EXPECT_EQ(operations_->log(operation.id(), 9)->text, all.text.substr(9));
    EXPECT_EQ(operations_->log(operation.id(), all.next_offset + 1).error().code, Errc::InvalidArgument);

    for (int i = 0; i < 30; ++i) operation.append_log("0123456789");
    const auto later = operations_->log(operation.id(), 0).value();
    EXPECT_GT(later.offset, 0u);
    EXPECT_LE(later.text.size(), 100u);
    EXPECT_EQ(later.text.substr(0, 11), "0123456789\n") << "whole lines";
    EXPECT_EQ(later.next_offset, all.next_offset + 30 * 11);
    operation.finish(Result<>{});
    EXPECT_TRUE(operations_->log(operation.id(), later.next_offset)->finished);
    EXPECT_EQ(operations_->log(operation.id(), later.next_offset)->text, "");
}

TEST_F(OperationsTest, OneOfADaemonThatEndedIsInterrupted) {
    OperationInfo info{.id = *OperationId::parse("op-old")};
    info.kind = "template.build";
    info.progress = 0.5;
    operations_->restore(info);
    EXPECT_EQ(operations_->find(info.id)->state, OperationState::Failed);
    EXPECT_EQ(operations_->find(info.id)->error->code, Errc::Interrupted);
    info.id = *OperationId::parse("op-older");
    info.state = OperationState::Succeeded;
    operations_->restore(info);
    EXPECT_EQ(operations_->find(info.id)->state, OperationState::Succeeded);
}

TEST_F(OperationsTest, AtTheEndAllAreAskedToEndAndWaitedFor) {
    auto first = begin();
    auto second = begin();
    for (auto* one : {&first, &second})
        one->cancel().on_cancel([this, one] {
            loop_.post([one] { one->finish(Result<>{fail(Errc::Interrupted, "stopped")}); });
        });
    loop_.run_until_complete(operations_->end_all());
    EXPECT_EQ(first.info().state, OperationState::Cancelled);
    EXPECT_EQ(second.info().state, OperationState::Cancelled);
}

}  // namespace
}  // namespace dormouse::desktop

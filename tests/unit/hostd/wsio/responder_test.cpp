// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/responder.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace dormouse::wsio {
namespace {

struct Sent {
    std::vector<int> statuses;
    Responder make() {
        return Responder{[this](HttpResponse response) { statuses.push_back(response.status); }};
    }
};

TEST(Responder, AnswersOnceHoweverManyCopiesThereAre) {
    Sent sent;
    const auto responder = sent.make();
    const auto copy = responder;
    copy.respond({.status = 201});
    responder.respond({.status = 202});
    EXPECT_EQ(sent.statuses, std::vector<int>{201});
}

TEST(Responder, AnswersInternalErrorWhenDropped) {
    Sent sent;
    { const auto copy = sent.make(); }
    EXPECT_EQ(sent.statuses, std::vector<int>{500});
}

TEST(Responder, TellsOfADisconnectOnceAndOnlyBeforeTheAnswer) {
    Sent sent;
    int told = 0;
    std::optional responder{sent.make()};
    const auto watch = responder->watch();
    responder->on_disconnect([&] { ++told; });
    watch.disconnect();
    watch.disconnect();
    EXPECT_EQ(told, 1);
    EXPECT_TRUE(responder->disconnected());
    responder.reset();
    EXPECT_TRUE(sent.statuses.empty());  // nobody is there to get the 500

    const auto answered = sent.make();
    answered.on_disconnect([&] { ++told; });
    answered.respond({.status = 200});
    answered.watch().disconnect();
    EXPECT_EQ(told, 1);
    EXPECT_FALSE(answered.disconnected());
}

TEST(Responder, TellsAtOnceWhenTheClientHasGoneAlready) {
    Sent sent;
    int told = 0;
    const auto responder = sent.make();
    responder.watch().disconnect();
    responder.on_disconnect([&] { ++told; });
    EXPECT_EQ(told, 1);
}

TEST(Responder, LetsGoOfTheCallbackWithTheAnswer) {
    Sent sent;
    auto owned = std::make_shared<int>(1);
    const auto responder = sent.make();
    responder.on_disconnect([owned] {});
    responder.respond({.status = 200});
    EXPECT_EQ(owned.use_count(), 1);
}

}  // namespace
}  // namespace dormouse::wsio

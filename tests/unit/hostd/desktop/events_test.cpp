// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::desktop {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EventsTest : public testing::Test {
  protected:
    EventsTest() { log_.begin_at(100); }

    void publish(EventType type, const std::string& image = "a") {
        Event event{.type = type};
        event.image = *TemplateName::parse(image);
        log_.publish(std::move(event));
    }
    std::unique_ptr<EventWatch> watch(
        std::vector<std::string>& heard, std::optional<std::uint64_t> after = {},
        EventLog::Filter filter = [](const Event&) { return true; }) {
        return log_.watch("t-1", after, std::move(filter),
                          {.event =
                               [&heard](const Event& event) {
                                   heard.push_back(std::to_string(event.id) + " " +
                                                   std::string{event_type_name(event.type)});
                               },
                           .end = [&heard] { heard.emplace_back("end"); }});
    }

    ManualClock clock_;
    EventLog log_{clock_, 3};
};

TEST_F(EventsTest, TellsWhatHappensFromNowOn) {
    publish(EventType::TemplateUpdated);
    std::vector<std::string> heard;
    auto listening = watch(heard);
    publish(EventType::TemplateUpdated);
    listening.reset();
    publish(EventType::TemplateUpdated);
    EXPECT_THAT(heard, ElementsAre("101 events.open", "102 template.updated"));
}

TEST_F(EventsTest, GoesOnBehindTheLastThatWasSeen) {
    for (int i = 0; i < 3; ++i) publish(EventType::TemplateUpdated);
    std::vector<std::string> heard;
    const auto listening = watch(heard, 101);
    EXPECT_THAT(heard, ElementsAre("101 events.open", "102 template.updated", "103 template.updated"));
    std::vector<std::string> up_to_date;
    const auto other = watch(up_to_date, 103);
    EXPECT_THAT(up_to_date, ElementsAre("103 events.open"));
}

TEST_F(EventsTest, SaysWhenSomeAreNotKnownAnyMore) {
    for (int i = 0; i < 5; ++i) publish(EventType::TemplateUpdated);
    for (const std::uint64_t too_old : {0, 100, 101}) {
        std::vector<std::string> heard;
        const auto listening = watch(heard, too_old);
        EXPECT_THAT(heard, ElementsAre("102 events.open", "102 events.lost", "103 template.updated",
                                       "104 template.updated", "105 template.updated"));
    }
    std::vector<std::string> just_known;
    const auto listening = watch(just_known, 102);
    EXPECT_EQ(just_known.front(), "102 events.open");
    EXPECT_EQ(just_known.size(), 4u);
    std::vector<std::string> from_elsewhere;
    const auto other = watch(from_elsewhere, 1000);
    EXPECT_EQ(from_elsewhere.at(1), "102 events.lost");
}

TEST_F(EventsTest, OfADaemonThatWasStartedAgainAllAreLost) {
    std::vector<std::string> heard;
    const auto listening = watch(heard, 90);
    EXPECT_THAT(heard, ElementsAre("100 events.open", "100 events.lost"));
}

TEST_F(EventsTest, TellsNobodyWhatHeDoesNotSee) {
    std::vector<std::string> heard;
    const auto mine = [](const Event& event) { return event.image->str() == "mine"; };
    const auto listening = watch(heard, std::nullopt, mine);
    publish(EventType::TemplateUpdated, "mine");
    publish(EventType::TemplateUpdated, "yours");
    std::vector<std::string> again;
    const auto later = watch(again, 100, mine);
    EXPECT_THAT(heard, ElementsAre("100 events.open", "101 template.updated"));
    EXPECT_THAT(again, ElementsAre("100 events.open", "101 template.updated"));
}

TEST_F(EventsTest, EndsForATokenThatIsGone) {
    std::vector<std::string> heard;
    const auto listening = watch(heard);
    log_.end_of("t-2");
    log_.end_of("t-1");
    publish(EventType::TemplateUpdated);
    EXPECT_THAT(heard, ElementsAre("100 events.open", "end"));
}

TEST_F(EventsTest, AListenerMayGoWhileItIsTold) {
    std::unique_ptr<EventWatch> first;
    std::unique_ptr<EventWatch> second;
    int told = 0;
    const auto stop_both = [&](const Event& event) {
        if (event.type == EventType::Open) return;
        ++told;
        first.reset();
        second.reset();
    };
    const auto all = [](const Event&) { return true; };
    first = log_.watch("t-1", {}, all, {.event = stop_both, .end = [] {}});
    second = log_.watch("t-1", {}, all, {.event = stop_both, .end = [] {}});
    publish(EventType::TemplateUpdated);
    EXPECT_EQ(told, 1);
}

TEST(EventWatchTest, MayOutliveTheLog) {
    ManualClock clock;
    std::unique_ptr<EventWatch> watch;
    {
        EventLog log{clock};
        watch = log.watch("t", {}, [](const Event&) { return true; },
                          {.event = [](const Event&) {}, .end = [] {}});
    }
    watch.reset();
}

}  // namespace
}  // namespace dormouse::desktop

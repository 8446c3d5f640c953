// SPDX-License-Identifier: Apache-2.0
// GET /v1/events on a real socket.
#include "hostd/api/event_streams.h"

#include <gmock/gmock.h>

#include "served_api.h"
#include "tests/unit/hostd/wsio/raw_client.h"

namespace dormouse::api {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using wsio::RawClient;

class EventStreamsTest : public ServedApi {
  protected:
    void publish(const std::string& image) {
        loop().post([this, image] {
            desktop::Event event{.type = desktop::EventType::TemplateUpdated};
            event.image = *TemplateName::parse(image);
            gateway.events.publish(std::move(event));
        });
    }
    std::unique_ptr<RawClient> listen(const std::string& more = {}, const std::string& query = {}) {
        auto client = std::make_unique<RawClient>(port());
        EXPECT_TRUE(client->send("GET /v1/events" + query + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                                 kAdminToken + "\r\n" + more + "\r\n"));
        return client;
    }
};

TEST_F(EventStreamsTest, TellsWhatHappensAsItHappens) {
    const auto client = listen();
    const auto head = client->read_until("\r\n\r\n");
    EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK"));
    EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream\r\n"));
    EXPECT_THAT(client->read_until("}\n\n"), HasSubstr("id: 0\nevent: events.open\ndata: {\"id\":0,"));
    publish("office");
    const auto event = client->read_until("}\n\n");
    EXPECT_THAT(event,
                HasSubstr("id: 1\nevent: template.updated\ndata: {\"id\":1,\"type\":\"template.updated\""));
    EXPECT_THAT(event, HasSubstr("\"template\":\"office\""));
}

TEST_F(EventStreamsTest, GoesOnWhereTheClientWas) {
    for (const auto* name : {"one", "two", "three"}) publish(name);
    const auto by_header = listen("Last-Event-ID: 2\r\n", "?after=1");
    EXPECT_THAT(by_header->read_until("three"), testing::Not(HasSubstr("two")));
    const auto by_query = listen("", "?after=1");
    EXPECT_THAT(by_query->read_until("three"), HasSubstr("\"two\""));
    const auto too_old = listen("", "?after=99");
    EXPECT_THAT(too_old->read_until("three"), HasSubstr("event: events.lost"));
}

TEST_F(EventStreamsTest, RefusesWhatIsNoIdAndOtherMethods) {
    EXPECT_EQ(error_of(ask("GET", "/v1/events?after=-1")).substr(0, 30), "invalid_argument: query.after:");
    EXPECT_EQ(error_of(ask("GET", "/v1/events?since=1")).substr(0, 30), "invalid_argument: query.since:");
    for (const auto* bad : {"x", "-1", "99999999999999999999", "1.5", "9007199254740993"})
        EXPECT_EQ(ask("GET", "/v1/events", {}, {{"Last-Event-ID", bad}}).status, 400) << bad;
    EXPECT_EQ(ask("POST", "/v1/events").status, 405);
    EXPECT_EQ(ask("HEAD", "/v1/events").status, 200);
    EXPECT_EQ(send({.url = url("/v1/events")}).status, 401);
}

TEST_F(EventStreamsTest, EndsForATokenThatIsGone) {
    const auto client = listen();
    client->read_until("}\n\n");
    loop().post([this] { gateway.events.end_of("t-admin"); });
    EXPECT_THAT(client->read_until("0\r\n\r\n"), HasSubstr(": this token is not known any more\n"));
}

TEST_F(EventStreamsTest, HasRoomForSoManyOfOneToken) {
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < LimitsConfig{}.event_streams_per_token; ++i) {
        clients.push_back(listen());
        clients.back()->read_until("}\n\n");
    }
    EXPECT_THAT(error_of(ask("GET", "/v1/events")), StartsWith("rate_limited: this token has"));
    clients.pop_back();
    // It takes a moment until the server knows.
    for (int i = 0; i < 2000; ++i) {
        const auto again = listen();
        if (again->read_until("\r\n\r\n").starts_with("HTTP/1.1 200")) return;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    FAIL() << "the place of a client that has gone is not given to another";
}

TEST_F(EventStreamsTest, EndsWhenTheServerStops) {
    const auto client = listen();
    client->read_until("}\n\n");
    stop();
    EXPECT_THAT(client->read_all(), EndsWith("0\r\n\r\n"));
}

}  // namespace
}  // namespace dormouse::api

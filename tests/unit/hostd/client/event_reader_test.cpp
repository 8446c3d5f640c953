// SPDX-License-Identifier: Apache-2.0
#include "hostd/client/event_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::client {
namespace {

using testing::ElementsAre;

// "id|type|data" of each event, with the bytes given in parts of `step`.
std::vector<std::string> read(std::string_view bytes, std::size_t step) {
    EventReader reader;
    std::vector<std::string> events;
    while (!bytes.empty()) {
        const auto part = bytes.substr(0, step);
        bytes.remove_prefix(part.size());
        EXPECT_TRUE(reader.feed(part, [&](const ServerSentEvent& event) {
            events.push_back(event.id + "|" + event.type + "|" + event.data);
            return true;
        }));
    }
    return events;
}

TEST(EventReader, TakesTheStreamApartHoweverItIsCut) {
    constexpr std::string_view kStream =
        "\xef\xbb\xbfretry: 2000\n\n: hello\n\nid: 7\nevent: a\ndata: one\n\n"
        "data:two\r\ndata: three\r\n\r\nid: 8\rdata\r\revent: nothing\n\ndata: last\n\ndata: cut off\n";
    for (const std::size_t step : {1u, 2u, 3u, 1000u})
        EXPECT_THAT(read(kStream, step),
                    ElementsAre("7|a|one", "7|message|two\nthree", "8|message|", "8|message|last"))
            << step;
}

TEST(EventReader, StopsWhenItIsTold) {
    EventReader reader;
    int seen = 0;
    EXPECT_TRUE(reader.feed("data: 1\n\ndata: 2\n\n", [&](const ServerSentEvent&) {
        ++seen;
        return false;
    }));
    EXPECT_EQ(seen, 1);
}

TEST(EventReader, HoldsNoMoreThanItsLimit) {
    EventReader reader{100};
    const auto ignore = [](const ServerSentEvent&) { return true; };
    EXPECT_TRUE(reader.feed("data: " + std::string(90, 'x') + "\n", ignore));
    EXPECT_EQ(reader.feed("data: " + std::string(90, 'x') + "\n", ignore).error().code, Errc::Corrupt);
}

}  // namespace
}  // namespace dormouse::client

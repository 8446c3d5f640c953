// SPDX-License-Identifier: Apache-2.0
#include "guest/protocol/mux.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dormouse::guest {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

// One end, with what it was told and what it wants to send.
struct End final : Mux::Listener {
    End(Role role, const Clock& clock) : mux(role, *this, clock) {}
    void send(std::string bytes) override { outbox += bytes; }
    void on_hello(json body) override { hellos.push_back(std::move(body)); }
    void on_acknowledged(json body) override { acknowledged.push_back(std::move(body)); }
    void on_lost(std::string_view why) override { lost.emplace_back(why); }
    void on_open(std::uint32_t stream, Request request) override {
        opened.emplace_back(stream, std::move(request));
    }
    void on_data(std::uint32_t, std::string bytes) override {
        if (bytes.empty()) ++ends;
        data += bytes;
    }
    void on_writable(std::uint32_t stream) override { writable.push_back(stream); }
    void on_close(std::uint32_t, Result<json> outcome) override { closed.push_back(std::move(outcome)); }
    void on_cancel(std::uint32_t stream) override { cancelled.push_back(stream); }
    void on_pong() override { ++pongs; }

    Mux mux;
    std::string outbox;
    std::vector<json> hellos, acknowledged;
    std::vector<std::string> lost;
    std::vector<std::pair<std::uint32_t, Request>> opened;
    std::string data;
    int ends = 0, pongs = 0;
    std::vector<std::uint32_t> writable, cancelled;
    std::vector<Result<json>> closed;
};

class MuxTest : public testing::Test {
  protected:
    // Carries bytes both ways, `piece` at a time, until nothing is left.
    void exchange(std::size_t piece = 100'000) {
        while (!host.outbox.empty() || !guest.outbox.empty()) {
            move(host, guest, piece);
            move(guest, host, piece);
        }
    }
    static void move(End& from, End& to, std::size_t piece) {
        const auto bytes = from.outbox.substr(0, piece);
        from.outbox.erase(0, piece);
        to.mux.receive(bytes);
    }
    void establish(std::uint32_t session = 77) {
        host.mux.begin_session(session);
        host.mux.send_hello({"1", 5});
        exchange();
        guest.mux.acknowledge({"2", "boot", 5, {}});
        exchange();
        ASSERT_TRUE(host.mux.established());
        ASSERT_TRUE(guest.mux.established());
    }
    std::uint32_t open(const Request& request = {"ping", json::object()}) {
        const auto stream = host.mux.open(request);
        EXPECT_TRUE(stream);
        return stream.value_or(0);
    }

    ManualClock clock;
    End host{Role::Host, clock};
    End guest{Role::Guest, clock};
};

TEST_F(MuxTest, AnswersARequestOneByteAtATime) {
    establish();
    const auto stream = open({"status", {{"a", 1}}});
    exchange(1);
    ASSERT_EQ(guest.opened.size(), 1u);
    EXPECT_EQ(guest.opened[0].first, stream);
    EXPECT_EQ(guest.opened[0].second.method, "status");
    EXPECT_EQ(guest.opened[0].second.params, json({{"a", 1}}));
    guest.mux.close(stream, json{{"ok", true}});
    exchange(1);
    ASSERT_EQ(host.closed.size(), 1u);
    EXPECT_EQ(host.closed[0].value(), json({{"ok", true}}));
    EXPECT_EQ(host.mux.stream_count() + guest.mux.stream_count(), 0u);
}

TEST_F(MuxTest, NothingWorksBeforeTheHello) {
    EXPECT_EQ(host.mux.open({"ping", json::object()}).error().code, Errc::Unavailable);
    guest.mux.receive(encode_frame({FrameType::Open, 0, 77, 1, 0, R"({"method":"ping","params":{}})"}));
    guest.mux.receive(encode_frame({FrameType::Open, 0, 0, 1, 0, R"({"method":"ping","params":{}})"}));
    EXPECT_THAT(guest.opened, IsEmpty());
}

TEST_F(MuxTest, CarriesLongMessagesInSeveralFrames) {
    establish();
    const std::string text(kMaxText, 'x');
    const auto stream = open({"clipboard_set", {{"text", text}}});
    exchange(1000);
    ASSERT_EQ(guest.opened.size(), 1u);
    EXPECT_EQ(guest.opened[0].second.params["text"], text);
    guest.mux.close(stream, json{{"text", text}});
    exchange(1000);
    EXPECT_EQ(host.closed.at(0).value()["text"], text);
}

TEST_F(MuxTest, RefusesMessagesBeyondTheLimit) {
    establish();
    const json huge{{"text", std::string(kMaxMessage, 'x')}};
    EXPECT_EQ(host.mux.open({"x", huge}).error().code, Errc::TooLarge);
    const auto stream = open();
    exchange();
    guest.mux.close(stream, huge);
    exchange();
    EXPECT_EQ(host.closed.at(0).error().code, Errc::TooLarge);
}

TEST_F(MuxTest, AnAnswerWithoutEndIsGivenUp) {
    establish();
    open();
    exchange();
    std::uint32_t sequence = 0;
    const std::string piece(kMaxPayload, '1');
    for (std::size_t sent = 0; sent <= kMaxMessage; sent += piece.size()) {
        host.mux.receive(encode_frame({FrameType::Close, kFlagMore, 77, 1, sequence++, piece}));
    }
    ASSERT_EQ(host.closed.size(), 1u);
    EXPECT_EQ(host.closed[0].error().code, Errc::TooLarge);
}

TEST_F(MuxTest, FlowControlHoldsBackASenderWhoseReaderIsSlow) {
    establish();
    const auto stream = open();
    exchange();
    const std::string bytes(kStreamWindow + 5, 'd');
    EXPECT_EQ(guest.mux.write(stream, bytes), kStreamWindow);
    EXPECT_EQ(guest.mux.write(stream, "more"), 0u);
    exchange();
    EXPECT_EQ(host.data.size(), kStreamWindow);
    EXPECT_THAT(guest.writable, IsEmpty());

    host.mux.consumed(stream, kStreamWindow / 2 - 1);
    exchange();
    EXPECT_EQ(guest.mux.writable(stream), 0u);
    host.mux.consumed(stream, kStreamWindow);  // more than came: counts only what did
    exchange();
    EXPECT_EQ(guest.mux.writable(stream), kStreamWindow);
    EXPECT_THAT(guest.writable, ElementsAre(stream));
    EXPECT_EQ(guest.mux.write(stream, "rest"), 4u);
    guest.mux.end_data(stream);
    exchange();
    EXPECT_EQ(host.data.substr(kStreamWindow), "rest");
    EXPECT_EQ(host.ends, 1);
}

TEST_F(MuxTest, DataBeyondTheWindowEndsTheStream) {
    establish();
    open();
    exchange();
    std::uint32_t sequence = 0;
    for (std::size_t sent = 0; sent <= kStreamWindow; sent += kMaxPayload) {
        host.mux.receive(
            encode_frame({FrameType::Data, 0, 77, 1, sequence++, std::string(kMaxPayload, 'x')}));
    }
    EXPECT_EQ(host.data.size(), kStreamWindow);
    ASSERT_EQ(host.closed.size(), 1u);
    EXPECT_EQ(host.closed[0].error().code, Errc::Corrupt);
    EXPECT_TRUE(host.mux.established());
}

TEST_F(MuxTest, CancelEndsAStreamAndItsLateAnswerIsIgnored) {
    establish();
    const auto stream = open();
    exchange();
    host.mux.cancel(stream);
    guest.mux.close(stream, json::object());  // crosses on the way
    exchange();
    EXPECT_THAT(host.closed, IsEmpty());
    EXPECT_THAT(guest.cancelled, IsEmpty());

    const auto another = open();
    exchange();
    host.mux.cancel(another);
    exchange();
    EXPECT_THAT(guest.cancelled, ElementsAre(another));
    guest.mux.close(another, json::object());
    EXPECT_THAT(guest.outbox, IsEmpty());
}

TEST_F(MuxTest, AFreshHelloEndsWhatWasBefore) {
    establish(77);
    const auto stream = open();
    exchange();
    host.mux.begin_session(78);
    host.mux.send_hello({"1", 6});
    exchange();
    guest.mux.close(stream, json::object());  // the answer of an old request, if the caller does not look
    EXPECT_THAT(guest.outbox, IsEmpty());
    guest.mux.acknowledge({"2", "boot", 6, {}});
    host.mux.receive(encode_frame({FrameType::Close, 0, 77, 1, 0, R"({"result":{}})"}));
    exchange();
    EXPECT_TRUE(host.mux.established());
    EXPECT_THAT(host.closed, IsEmpty());
    EXPECT_THAT(host.lost, IsEmpty());
}

TEST_F(MuxTest, ARepeatedHelloOfTheSameSessionLosesNothing) {
    establish();
    const auto stream = open();
    exchange();
    host.mux.send_hello({"1", 9});
    exchange();
    EXPECT_EQ(guest.hellos.size(), 2u);
    guest.mux.acknowledge({"2", "boot", 9, {}});
    guest.mux.close(stream, json::object());
    exchange();
    EXPECT_EQ(host.closed.size(), 1u);
}

TEST_F(MuxTest, LostBytesEndTheSessionAndTheGuestAsksForAHello) {
    establish();
    open();
    host.outbox.clear();  // lost on the way
    open();
    exchange();
    EXPECT_FALSE(guest.mux.established());
    EXPECT_EQ(guest.lost.size(), 1u);
    EXPECT_EQ(host.lost.size(), 1u) << "the guest's call for a hello";
    EXPECT_FALSE(host.mux.established());
}

TEST_F(MuxTest, AHalfSentFrameBeforeSleepDoesNotSpoilTheHelloAfter) {
    establish();
    const json params{{"text", std::string(700, 'x')}};
    ASSERT_TRUE(host.mux.open({"clipboard_set", params}));
    const auto bytes = host.outbox;
    host.outbox.clear();
    std::uint32_t session = 100;
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
        guest.mux.receive(std::string_view{bytes}.substr(0, cut));
        host.mux.begin_session(++session);
        const auto before = guest.hellos.size();
        for (int i = 0; i < 10 && guest.hellos.size() == before; ++i) {
            host.mux.send_hello({"1", i});
            exchange();
            clock.advance(std::chrono::milliseconds{250});
        }
        ASSERT_GT(guest.hellos.size(), before) << "cut at " << cut;
        guest.mux.acknowledge({"2", "boot", 1, {}});
        exchange();
        ASSERT_TRUE(host.mux.established());
        // The next round needs the old session's numbers.
        host.mux.begin_session(77);
        host.mux.send_hello({"1", 1});
        exchange();
        guest.mux.acknowledge({"2", "boot", 1, {}});
        exchange();
    }
}

TEST_F(MuxTest, DataThatLooksLikeAHelloIsOnlyData) {
    establish();
    const auto stream = open();
    exchange();
    const auto disguised = encode_frame({FrameType::HelloAck, 0, 77, 0, 0, "{}"});
    guest.mux.write(stream, disguised + disguised);
    exchange(7);
    EXPECT_EQ(host.data, disguised + disguised);
    EXPECT_EQ(host.acknowledged.size(), 1u);
}

TEST_F(MuxTest, TheHostIsNotMadeToSendByAFloodingGuest) {
    establish();
    std::uint32_t sequence = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto stream = static_cast<std::uint32_t>(2 * i + 2);
        host.mux.receive(encode_frame({FrameType::Ping, 0, 77, 0, sequence++, std::string(1000, 'p')}));
        host.mux.receive(
            encode_frame({FrameType::Open, 0, 77, stream, sequence++, R"({"method":"ping","params":{}})"}));
        host.mux.receive(encode_frame({FrameType::Close, 0, 77, stream + 1, sequence++, R"({"result":1})"}));
        host.mux.receive(encode_frame({FrameType::Data, 0, 77, stream, sequence++, std::string(1000, 'p')}));
    }
    EXPECT_THAT(host.outbox, IsEmpty());
    EXPECT_EQ(host.mux.stream_count(), 0u);
    EXPECT_TRUE(host.mux.established());
}

TEST_F(MuxTest, TheGuestAnswersPings) {
    establish();
    host.mux.ping();
    exchange();
    EXPECT_EQ(host.pongs, 1);
}

TEST_F(MuxTest, ThereAreOnlySoManyStreams) {
    establish();
    for (std::size_t i = 0; i < kMaxStreams; ++i) open();
    EXPECT_EQ(host.mux.open({"ping", json::object()}).error().code, Errc::Unavailable);
    exchange();
    EXPECT_EQ(guest.opened.size(), kMaxStreams);
    // A host that does not count is told.
    guest.mux.receive(
        encode_frame({FrameType::Open, 0, 77, 999, kMaxStreams, R"({"method":"a","params":{}})"}));
    EXPECT_EQ(guest.opened.size(), kMaxStreams);
    EXPECT_FALSE(guest.outbox.empty());
}

TEST_F(MuxTest, ARequestThatIsNotOneIsAnsweredWithAnError) {
    establish();
    std::uint32_t sequence = 0;
    for (const char* text : {"", "[]", "{\"method\":1}", "nonsense"}) {
        const std::uint32_t stream = 1 + 2 * sequence;
        guest.mux.receive(encode_frame({FrameType::Open, 0, 77, stream, sequence++, text}));
        FrameDecoder decoder;
        decoder.feed(std::exchange(guest.outbox, {}), [&](const Frame& frame) {
            EXPECT_EQ(frame.type, FrameType::Close);
            EXPECT_EQ(frame.stream, stream);
            EXPECT_NE(frame.payload.find("invalid_argument"), std::string::npos);
        });
        EXPECT_EQ(decoder.frames_decoded(), 1u);
    }
    EXPECT_THAT(guest.opened, IsEmpty());
}

}  // namespace
}  // namespace dormouse::guest

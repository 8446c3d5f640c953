// SPDX-License-Identifier: Apache-2.0
#include "display/rfb_source.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "fake_qemu_display.h"
#include "fake_rfb_server.h"

namespace dormouse::display {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::FakeRfbServer;
using testing::Signal;

constexpr Pixel kRed = 0xffff0000;
constexpr Pixel kBlue = 0xff0000ff;

class RfbSourceTest : public ::testing::Test {
  protected:
    void start(UniqueFd socket, Duration keep_awake = 20ms) {
        RfbSourceOptions options;
        options.id = "d-test";
        options.keep_awake = keep_awake;
        options.on_change = [this] { changed.raise(); };
        auto started = RfbSource::start(std::move(socket), framebuffer, std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        source = std::move(*started);
    }
    void connect(FakeRfbServer& server) {
        start(server.take_client_end());
        ASSERT_TRUE(wait([&] { return source->status().state == SourceState::Live; }))
            << source->status().reason.message;
    }
    // A server that has said `bytes`, and hears what comes.
    UniqueFd say(const std::string& bytes) {
        std::array<int, 2> ends{-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
        start(UniqueFd{ends[0]});
        UniqueFd server{ends[1]};
        EXPECT_EQ(::send(server.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
        return server;
    }
    bool wait(const std::function<bool()>& holds) { return changed.wait_until(holds); }
    bool ended() {
        return wait([&] { return source->status().state == SourceState::Ended; });
    }
    Pixel at(int x, int y) const { return framebuffer.snapshot()->image.at(x, y); }

    SystemClock clock;
    Framebuffer framebuffer{clock};
    Signal changed;
    std::unique_ptr<RfbSource> source;
};

TEST_F(RfbSourceTest, ShowsWhatTheServerShowsInItsColours) {
    FakeRfbServer server{{320, 200}};
    server.fill({0, 0, 320, 100}, kRed);
    server.fill({0, 100, 320, 100}, kBlue);
    connect(server);
    ASSERT_EQ(framebuffer.size(), (Size{320, 200}));
    EXPECT_EQ(at(0, 0), kRed);
    EXPECT_EQ(at(319, 99), kRed);
    EXPECT_EQ(at(0, 100), kBlue);
    EXPECT_EQ(at(319, 199), kBlue);
}

TEST_F(RfbSourceTest, FollowsChangesAndTellsTheirPlace) {
    FakeRfbServer server{{320, 200}};
    connect(server);
    const auto before = framebuffer.generation();
    server.fill({200, 150, 10, 10}, kRed);
    ASSERT_TRUE(wait([&] { return framebuffer.generation() > before; }));
    EXPECT_EQ(at(200, 150), kRed);
    EXPECT_EQ(at(199, 150), 0xff000000);
    EXPECT_EQ(framebuffer.damage_since(before).rects, (std::vector<Rect>{{192, 128, 64, 64}}));
}

TEST_F(RfbSourceTest, FollowsTheScreenToAnotherSize) {
    FakeRfbServer server{{320, 200}};
    connect(server);
    for (const Size size : {Size{640, 480}, Size{33, 17}}) {
        server.resize(size, kBlue);
        ASSERT_TRUE(wait([&] { return framebuffer.size() == size; })) << size.width;
        EXPECT_EQ(at(0, 0), kBlue);
        EXPECT_EQ(at(size.width - 1, size.height - 1), kBlue);
    }
    server.fill({32, 16, 1, 1}, kRed);
    ASSERT_TRUE(wait([&] { return at(32, 16) == kRed; }));
}

TEST_F(RfbSourceTest, TakesThePointersShapeAndPlace) {
    FakeRfbServer server{{320, 200}};
    connect(server);
    server.show_cursor({12, 9}, 3, 4, kRed);
    ASSERT_TRUE(wait([&] {
        const auto shape = framebuffer.cursor().shape;
        return shape && shape->image.size() == Size{12, 9};
    }));
    const auto cursor = framebuffer.cursor();
    EXPECT_EQ(cursor.shape->hot_x, 3);
    EXPECT_EQ(cursor.shape->hot_y, 4);
    EXPECT_EQ(cursor.shape->image.at(0, 0), 0U);  // the mask leaves it out
    EXPECT_EQ(cursor.shape->image.at(1, 0), kRed);
    EXPECT_EQ(cursor.shape->image.at(11, 8), kRed);
    server.move_cursor(100, 50);
    ASSERT_TRUE(wait([&] { return framebuffer.cursor().x == 100; }));
    EXPECT_EQ(framebuffer.cursor().y, 50);
    EXPECT_TRUE(framebuffer.cursor().visible);
}

TEST_F(RfbSourceTest, KeepsAQuietServerAwake) {
    FakeRfbServer server{{32, 20}};
    start(server.take_client_end(), 1ms);
    while (server.clipboards() < 10) std::this_thread::yield();
    EXPECT_NE(source->status().state, SourceState::Ended);
}

TEST_F(RfbSourceTest, EndsWhenTheServerGoesAwayAndKeepsThePicture) {
    FakeRfbServer server{{320, 200}};
    server.fill({0, 0, 320, 200}, kRed);
    connect(server);
    server.close_connection();
    ASSERT_TRUE(ended());
    EXPECT_EQ(source->status().reason.code, Errc::Interrupted);
    EXPECT_EQ(at(5, 5), kRed);
}

TEST_F(RfbSourceTest, IsDestroyedWhileTheServerSaysNothing) {
    const auto silent = say("");
    source.reset();
    const auto half = say("RFB 003.008\n\x01");
    source.reset();
}

TEST_F(RfbSourceTest, EndsAtWhatIsNoVnc) {
    const auto server = say("HTTP/1.1 400 Bad Request\r\n\r\n");
    EXPECT_TRUE(ended());
}

TEST_F(RfbSourceTest, EndsAtAServerThatWantsAPassword) {
    const auto server = say("RFB 003.008\n\x01\x02");
    EXPECT_TRUE(ended());
}

std::string server_init(const std::string& size) {
    return "RFB 003.008\n\x01\x01\0\0\0\0"s + size +
           "\x20\x18\0\x01\0\xff\0\xff\0\xff\x10\x08\0\0\0\0\0\0\0\x04QEMU"s;
}

TEST_F(RfbSourceTest, RefusesAScreenBeyondTheLimit) {
    for (const auto& size : {"\xff\xff\xff\xff"s, "\x20\x01\0\x10"s, "\0\x10\x20\x01"s, "\0\0\0\x10"s}) {
        const auto server = say(server_init(size));
        ASSERT_TRUE(ended());
        EXPECT_EQ(source->status().reason.code, Errc::Corrupt) << source->status().reason.message;
        EXPECT_TRUE(framebuffer.size().empty());
    }
}

TEST_F(RfbSourceTest, RefusesPartsOutsideOfTheScreen) {
    // One raw rectangle of 16x16 at 10, 10 of a screen of 16x16.
    const auto server = say(server_init("\0\x10\0\x10"s) + "\0\0\0\x01\0\x0a\0\x0a\0\x10\0\x10\0\0\0\0"s);
    EXPECT_TRUE(ended());
    EXPECT_TRUE(framebuffer.size().empty());
}

TEST_F(RfbSourceTest, ShowsNothingBeforeAllOfTheScreenHasCome) {
    // A screen of 2x1: its left pixel, then both.
    const auto server =
        say(server_init("\0\x02\0\x01"s) + "\0\0\0\x01\0\0\0\0\0\x01\0\x01\0\0\0\0\xff\0\0\0"s);
    ASSERT_TRUE(source);
    const auto all = "\0\0\0\x01\0\0\0\0\0\x02\0\x01\0\0\0\0\x00\0\xff\0\xff\0\0\0"s;
    ASSERT_EQ(::send(server.get(), all.data(), all.size(), MSG_NOSIGNAL), static_cast<ssize_t>(all.size()));
    ASSERT_TRUE(wait([&] { return source->status().state == SourceState::Live; }));
    EXPECT_EQ(framebuffer.generation(), 1U);
    EXPECT_EQ(at(0, 0), kRed);
    EXPECT_EQ(at(1, 0), kBlue);
}

}  // namespace
}  // namespace dormouse::display

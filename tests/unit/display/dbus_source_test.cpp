// SPDX-License-Identifier: Apache-2.0
#include "display/dbus_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "fake_qemu_display.h"

namespace dormouse::display {
namespace {

using namespace std::chrono_literals;
using testing::FakeQemuDisplay;
using testing::Picture;

constexpr const char* kInvalid = "org.freedesktop.DBus.Error.InvalidArgs";
constexpr Pixel kRed = 0xffff0000;
constexpr Pixel kBlue = 0xff0000ff;

class DbusSourceTest : public ::testing::Test {
  protected:
    void start(UniqueFd socket, Duration timeout = 20s) {
        DbusSourceOptions options;
        options.id = "d-test";
        options.timeout = timeout;
        options.on_change = [this] { signal.raise(); };
        auto made = DbusSource::start(std::move(socket), framebuffer, std::move(options));
        ASSERT_TRUE(made) << made.error().message;
        source = std::move(*made);
    }
    void start_and_accept() {
        start(fake.take_client_end());
        ASSERT_TRUE(fake.accept());
    }
    Error wait_for_end() {
        EXPECT_TRUE(signal.wait_until([this] { return source->status().state == SourceState::Ended; }));
        return source->status().reason;
    }

    SystemClock clock;
    Framebuffer framebuffer{clock};
    testing::Signal signal;
    FakeQemuDisplay fake;
    std::unique_ptr<DbusSource> source;
};

TEST_F(DbusSourceTest, RegistersAListenerAndShowsThePicture) {
    start_and_accept();
    EXPECT_EQ(source->status().state, SourceState::Connecting);
    EXPECT_EQ(fake.scanout(Picture{320, 200, kRed}.raw()), "");
    EXPECT_EQ(source->status().state, SourceState::Live);
    EXPECT_EQ(framebuffer.snapshot()->image, (Image{{320, 200}, kRed}));
    EXPECT_EQ(fake.update(10, 20, Picture{5, 6, kBlue}.raw()), "");
    EXPECT_EQ(framebuffer.snapshot()->image.at(14, 25), kBlue);
    EXPECT_EQ(framebuffer.snapshot()->image.at(15, 25), kRed);
}

TEST_F(DbusSourceTest, AnswersTheHandshakeBeforeTheReplyToItsOwnCallCame) {
    start(fake.take_client_end());
    ASSERT_TRUE(fake.accept(FakeQemuDisplay::Handshake::BeforeReply));
    EXPECT_EQ(fake.scanout(Picture{32, 20, kRed}.raw()), "");
}

TEST_F(DbusSourceTest, OffersNoExtraInterfaces) {
    start_and_accept();
    EXPECT_EQ(fake.listener_interfaces(), 0);
}

TEST_F(DbusSourceTest, RefusesHostileCallsAndGoesOn) {
    start_and_accept();
    EXPECT_EQ(fake.update(0, 0, Picture{5, 5, kRed}.raw()), kInvalid);  // before any picture
    const Picture good{100, 100, kRed};
    ASSERT_EQ(fake.scanout(good.raw()), "");

    auto raw = good.raw();
    raw.data = raw.data.first(100);
    EXPECT_EQ(fake.scanout(raw), kInvalid);
    EXPECT_EQ(fake.update(0, 0, raw), kInvalid);
    raw = good.raw();
    raw.format = 0x10020565;
    EXPECT_EQ(fake.scanout(raw), kInvalid);
    raw = good.raw();
    raw.width = UINT32_MAX;
    raw.height = UINT32_MAX;
    EXPECT_EQ(fake.scanout(raw), kInvalid);
    EXPECT_EQ(fake.update(0, 0, raw), kInvalid);  // -1 by -1
    raw = good.raw();
    raw.stride = UINT32_MAX;
    EXPECT_EQ(fake.scanout(raw), kInvalid);
    raw.width = 0;
    EXPECT_EQ(fake.scanout(raw), kInvalid);
    EXPECT_EQ(fake.update(INT32_MIN, INT32_MAX, Picture{5, 5, kBlue}.raw()), "");  // outside: nothing to do
    EXPECT_EQ(fake.cursor_define(-1, 7, 0, 0, {}), kInvalid);
    for (const auto* member : {"Scanout", "Update", "Disable", "MouseSet", "CursorDefine", "ScanoutDMABUF"})
        EXPECT_EQ(fake.call_with_text(member), kInvalid) << member;
    EXPECT_EQ(fake.call_with_text("Surprise"), "org.freedesktop.DBus.Error.UnknownMethod");

    EXPECT_EQ(source->status().state, SourceState::Live);
    EXPECT_EQ(framebuffer.generation(), 1U);
    EXPECT_EQ(framebuffer.snapshot()->image, (Image{{100, 100}, kRed}));
}

TEST_F(DbusSourceTest, KeepsTheCursor) {
    start_and_accept();
    const std::vector<std::byte> argb(3 * 2 * 4, std::byte{0x40});
    EXPECT_EQ(fake.cursor_define(3, 2, 1, 1, argb), "");
    EXPECT_EQ(fake.mouse_set(12, -3, 1), "");
    const auto cursor = framebuffer.cursor();
    ASSERT_TRUE(cursor.shape);
    EXPECT_EQ(cursor.shape->image.size(), (Size{3, 2}));
    EXPECT_EQ(cursor.shape->hot_x, 1);
    EXPECT_EQ(cursor.x, 12);
    EXPECT_EQ(cursor.y, -3);
    EXPECT_TRUE(cursor.visible);
}

TEST_F(DbusSourceTest, TurnsBlackWhenTheDisplayIsDisabled) {
    start_and_accept();
    ASSERT_EQ(fake.scanout(Picture{64, 48, kRed}.raw()), "");
    EXPECT_EQ(fake.disable(), "");
    EXPECT_EQ(framebuffer.snapshot()->image, (Image{{64, 48}}));
}

TEST_F(DbusSourceTest, ClosesTheDescriptorsThatItDoesNotUse) {
    start_and_accept();
    std::array<int, 2> pipe_ends{-1, -1};
    ASSERT_EQ(::pipe2(pipe_ends.data(), O_CLOEXEC), 0);
    const UniqueFd read_end{pipe_ends[0]};
    UniqueFd write_end{pipe_ends[1]};
    EXPECT_EQ(fake.scanout_dmabuf(write_end.get()), "");
    write_end.reset();
    // One more round trip: the message before it is gone by then.
    EXPECT_EQ(fake.mouse_set(1, 1, 1), "");
    pollfd entry{read_end.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&entry, 1, 20'000), 1);
    EXPECT_TRUE(entry.revents & POLLHUP);
}

TEST_F(DbusSourceTest, RegistersAgainWhenASizeWasToldAndNoPictureOfItCame) {
    start_and_accept();
    ASSERT_EQ(fake.scanout(Picture{64, 48, kRed}.raw()), "");
    fake.tell_size(100, 70);
    ASSERT_TRUE(fake.accept());
    EXPECT_EQ(fake.scanout(Picture{100, 70, kBlue}.raw()), "");
    EXPECT_EQ(framebuffer.size(), (Size{100, 70}));
    EXPECT_EQ(source->status().state, SourceState::Live);
}

TEST_F(DbusSourceTest, KeepsItsListenerWhenThePictureOfTheToldSizeCame) {
    start_and_accept();
    ASSERT_EQ(fake.scanout(Picture{64, 48, kRed}.raw()), "");
    ASSERT_EQ(fake.scanout(Picture{100, 70, kRed}.raw()), "");
    fake.tell_size(100, 70);
    EXPECT_FALSE(fake.accept(FakeQemuDisplay::Handshake::AfterReply, 300ms));
    EXPECT_EQ(fake.disable(), "");
}

TEST_F(DbusSourceTest, KeepsUpWithManyPicturesThatNobodyWaitsFor) {
    start_and_accept();
    for (Pixel i = 1; i <= 200; ++i) fake.post_scanout(Picture{300, 200, 0xff000000 | i}.raw());
    EXPECT_TRUE(signal.wait_until([this] { return framebuffer.generation() == 200; }));
    EXPECT_EQ(framebuffer.snapshot()->image.at(0, 0), 0xff000000 | 200U);
}

TEST_F(DbusSourceTest, EndsWithAReasonWhenQemuCloses) {
    start_and_accept();
    ASSERT_EQ(fake.scanout(Picture{64, 48, kRed}.raw()), "");
    fake.close();
    EXPECT_EQ(wait_for_end().code, Errc::Interrupted);
    EXPECT_EQ(framebuffer.size(), (Size{64, 48}));  // the last picture stays
}

TEST_F(DbusSourceTest, EndsWhenQemuDropsOnlyTheListener) {
    start_and_accept();
    fake.close_listener();
    EXPECT_EQ(wait_for_end().code, Errc::Interrupted);
}

TEST_F(DbusSourceTest, EndsWhenQemuClosesBeforeItAnswered) {
    start(fake.take_client_end());
    fake.close();
    EXPECT_EQ(wait_for_end().code, Errc::Interrupted);
}

TEST_F(DbusSourceTest, EndsWithTheReasonWhenQemuRefusesTheListener) {
    start(fake.take_client_end());
    ASSERT_TRUE(fake.refuse_listener());
    const auto reason = wait_for_end();
    EXPECT_EQ(reason.code, Errc::Unavailable);
    EXPECT_NE(reason.message.find("no room"), std::string::npos) << reason.message;
}

TEST_F(DbusSourceTest, EndsWhenNothingComesInTime) {
    start(fake.take_client_end(), 50ms);  // nobody serves the other end
    EXPECT_EQ(wait_for_end().code, Errc::Timeout);
}

TEST_F(DbusSourceTest, EndsWhenNoPictureComesInTime) {
    start(fake.take_client_end(), 300ms);
    ASSERT_TRUE(fake.accept());
    EXPECT_EQ(wait_for_end().code, Errc::Timeout);
}

TEST_F(DbusSourceTest, EndsWhenTheOtherSideSpeaksSomethingElse) {
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    const UniqueFd theirs{ends[1]};
    start(UniqueFd{ends[0]});
    const std::string_view garbage = "HTTP/1.1 400 Bad Request\r\nServer: x\r\nConnection: close\r\n\r\n";
    ASSERT_EQ(::send(theirs.get(), garbage.data(), garbage.size(), 0), static_cast<ssize_t>(garbage.size()));
    EXPECT_NE(wait_for_end().code, Errc::Timeout);
}

TEST_F(DbusSourceTest, RefusesToStartWithoutASocket) {
    EXPECT_EQ(DbusSource::start(UniqueFd{}, framebuffer, {}).error().code, Errc::InvalidArgument);
}

TEST_F(DbusSourceTest, StopsAtOnceInEveryState) {
    start(fake.take_client_end());
    source.reset();  // while connecting
    FakeQemuDisplay registered;
    start(registered.take_client_end());
    ASSERT_TRUE(registered.accept());
    source.reset();  // before the first picture
    FakeQemuDisplay live;
    start(live.take_client_end());
    ASSERT_TRUE(live.accept());
    ASSERT_EQ(live.scanout(Picture{64, 48, kRed}.raw()), "");
    source.reset();
    EXPECT_EQ(framebuffer.size(), (Size{64, 48}));
}

}  // namespace
}  // namespace dormouse::display

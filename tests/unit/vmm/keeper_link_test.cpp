// SPDX-License-Identifier: Apache-2.0
#include "vmm/keeper_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::vmm {
namespace {

using nlohmann::json;

std::pair<UniqueFd, UniqueFd> socket_pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    return {UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

class KeeperLinkTest : public ::testing::Test {
  protected:
    KeeperLinkTest() {
        auto [ours, theirs] = socket_pair();
        raw_ = std::move(theirs);
        KeeperLink::Handlers handlers;
        handlers.on_qmp_line = [this](std::string line, UniqueFd fd) {
            lines_.push_back(std::move(line));
            if (fd) fds_.push_back(std::move(fd));
        };
        handlers.on_line_dropped = [this] { ++dropped_; };
        handlers.on_guest = [this](std::string_view bytes) { guest_ += bytes; };
        handlers.on_guest_credit = [this](std::size_t bytes) { credit_ += bytes; };
        handlers.on_control = [this](const json& message) { control_.push_back(message); };
        handlers.on_closed = [this] { closed_ = true; };
        link_ = std::make_unique<KeeperLink>(loop_, std::move(ours), std::move(handlers));
    }
    // Another link on the far end.
    KeeperLink& peer() {
        if (!peer_) peer_ = std::make_unique<KeeperLink>(loop_, std::move(raw_), KeeperLink::Handlers{});
        return *peer_;
    }
    void send_raw(const std::string& packet) {
        ASSERT_EQ(::send(raw_.get(), packet.data(), packet.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(packet.size()));
    }

    ManualClock clock_;
    EventLoop loop_{clock_};
    UniqueFd raw_;
    std::unique_ptr<KeeperLink> link_;
    std::unique_ptr<KeeperLink> peer_;
    std::vector<std::string> lines_;
    std::vector<UniqueFd> fds_;
    std::string guest_;
    std::vector<json> control_;
    std::size_t credit_ = 0;
    int dropped_ = 0;
    bool closed_ = false;
};

TEST_F(KeeperLinkTest, CarriesALineOfManyPacketsInOnePiece) {
    const std::string line = "{\"return\": \"" + std::string(3 * kMaxPayload + 17, 'r') + "\"}";
    peer().send_qmp_line(line);
    peer().send_qmp_line("{}");
    loop_.run_ready();
    ASSERT_EQ(lines_.size(), 2U);
    EXPECT_EQ(lines_[0], line);
    EXPECT_EQ(lines_[1], "{}");
}

TEST_F(KeeperLinkTest, PassesADescriptorWithALine) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd reader{ends[0]};
    peer().send_qmp_line("{\"execute\": \"getfd\"}", UniqueFd{ends[1]});
    loop_.run_ready();
    ASSERT_EQ(fds_.size(), 1U);
    ASSERT_EQ(::write(fds_[0].get(), "x", 1), 1);
    char got = 0;
    EXPECT_EQ(::read(reader.get(), &got, 1), 1);
}

TEST_F(KeeperLinkTest, DropsALineBeyondTheLimitAndKeepsTheNext) {
    peer().send_qmp_line(std::string(kMaxQmpLine + 1, 'x'));
    peer().send_qmp_line("{\"next\": 1}");
    loop_.run_ready();
    EXPECT_EQ(dropped_, 1);
    ASSERT_EQ(lines_.size(), 1U);
    EXPECT_EQ(lines_[0], "{\"next\": 1}");
}

TEST_F(KeeperLinkTest, GivesNothingOfALineWhosePeerWentAwayInTheMiddle) {
    send_raw("q{\"execute\": \"qu");
    raw_.reset();
    loop_.run_ready();
    EXPECT_TRUE(closed_);
    EXPECT_TRUE(lines_.empty());
}

TEST_F(KeeperLinkTest, QueuesWhatASlowPeerDoesNotReadAndLosesNothing) {
    std::string expected;
    for (int i = 0; i < 64; ++i) {
        const std::string piece(50'000, static_cast<char>('a' + i % 26));
        expected += piece;
        peer().send_guest(piece);
    }
    EXPECT_GT(peer().queued(), 1'000'000U);
    loop_.run_ready();
    EXPECT_EQ(peer().queued(), 0U);
    EXPECT_TRUE(guest_ == expected);
}

TEST_F(KeeperLinkTest, CarriesCreditAndControl) {
    peer().send_guest_credit(4711);
    peer().send_control({{"type", "status"}, {"text", "not UTF-8: \xff"}});
    loop_.run_ready();
    EXPECT_EQ(credit_, 4711U);
    ASSERT_EQ(control_.size(), 1U);
    EXPECT_EQ(control_[0].at("type"), "status");
}

TEST_F(KeeperLinkTest, ClosesOnNonsenseButNotOnWhatIsNew) {
    send_raw("Zof a newer version");
    loop_.run_ready();
    EXPECT_FALSE(closed_);
    send_raw("C[not an object");
    loop_.run_ready();
    EXPECT_TRUE(closed_);
    EXPECT_FALSE(link_->open());
    link_->send_control({{"type", "x"}});  // goes nowhere
}

TEST_F(KeeperLinkTest, ClosesOnAPacketThatIsTooLong) {
    send_raw("G" + std::string(kMaxPayload + 1, 'g'));
    loop_.run_ready();
    EXPECT_TRUE(closed_);
    EXPECT_TRUE(guest_.empty());
}

}  // namespace
}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
// The real dormouse-netd against a guest and a QEMU of our own, over real sockets.
#include "vmm/net/netd.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "guest_frames.h"
#include "hostd/base/file.h"
#include "hostd/base/process.h"
#include "vmm/net/netd_link.h"
#include "vmm/qemu_command.h"

namespace dormouse::net {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

std::pair<UniqueFd, std::uint16_t> open_local(int type) {
    UniqueFd socket{::socket(AF_INET, type | SOCK_CLOEXEC, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    if (type == SOCK_STREAM) {
        EXPECT_EQ(::listen(socket.get(), 16), 0);
    }
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    return {std::move(socket), ntohs(address.sin_port)};
}

class NetdTest : public ::testing::Test {
  protected:
    NetdTest() {
        char pattern[] = "/tmp/dm-test-XXXXXX";
        folder_ = ::mkdtemp(pattern);
        std::tie(server_, server_port_) = open_local(SOCK_STREAM);
        std::tie(dns_, dns_port_) = open_local(SOCK_DGRAM);
        // QEMU's end.
        card_ = UniqueFd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        const auto own = socket_address(vmm::network_socket(folder_));
        EXPECT_EQ(::bind(card_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    }
    ~NetdTest() override {
        link_.reset();
        end_netd();
        std::error_code error;
        std::filesystem::remove_all(folder_, error);
    }

    static sockaddr_un socket_address(const std::filesystem::path& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        return address;
    }

    void start(Mode mode) {
        const NetdConfig config{.id = "d-test",
                                .run_folder = folder_,
                                .policy = policy(mode),
                                .dns = "127.0.0.1:" + std::to_string(dns_port_)};
        const UniqueFd input{::memfd_create("config", MFD_CLOEXEC)};
        ASSERT_TRUE(write_all(input.get(), to_json(config)));
        ::lseek(input.get(), 0, SEEK_SET);
        CommandLine command;
        command.argv = {DORMOUSE_BIN_DIR "/dormouse-netd", folder_};
        command.descriptors = {{0, input.get()}};
        command.die_with_parent = true;
        auto child = ForkSpawner{}.start(command);
        ASSERT_TRUE(child) << child.error().message;
        netd_ = std::move(*child);
    }
    void end_netd() {
        if (netd_.pid <= 0) return;
        ::kill(netd_.pid, SIGKILL);
        wait_exit(netd_);
        netd_ = Child{};
    }
    PolicySettings policy(Mode mode) const {
        return {.mode = mode, .allow = {{kHostLoopback, server_port_}}};
    }

    void send(const Frame& frame) {
        const auto peer = socket_address(vmm::network_peer_socket(folder_));
        const auto deadline = clock_.now() + kPatience;
        while (::sendto(card_.get(), frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&peer),
                        sizeof peer) < 0) {
            ASSERT_LT(clock_.now(), deadline) << std::strerror(errno);
            std::this_thread::sleep_for(1ms);  // it is not there yet, or busy
        }
    }
    // The next frame for which `wanted` holds; what else comes is dropped, but ARP.
    std::optional<Frame> receive(const std::function<bool(const Packet&)>& wanted) {
        const auto deadline = clock_.now() + kPatience;
        std::vector<std::uint8_t> buffer(65536);
        while (clock_.now() < deadline) {
            loop_.run_once(0ms);
            pollfd poll{card_.get(), POLLIN, 0};
            if (::poll(&poll, 1, 5) <= 0) continue;
            const auto size = ::recv(card_.get(), buffer.data(), buffer.size(), 0);
            if (size <= 0) continue;
            Frame frame(buffer.begin(), buffer.begin() + size);
            const auto [problem, packet] = read_packet(frame);
            if (packet.kind == PacketKind::Arp && packet.arp_request && packet.to == kGuestAddress)
                answer_arp(packet);
            if (problem.empty() && wanted(packet)) return frame;
        }
        return std::nullopt;
    }
    void answer_arp(const Packet& request) { send(make_arp_reply(request, kGuestMac)); }
    std::optional<Packet> receive_tcp(std::uint16_t guest_port) {
        last_ =
            receive([&](const Packet& p) { return p.kind == PacketKind::Tcp && p.to_port == guest_port; });
        if (!last_) return std::nullopt;
        return read_packet(*last_).packet;
    }
    bool get_address() {
        send(guest_dhcp(1));
        const auto is_dhcp = [](const Packet& p) { return p.kind == PacketKind::Udp && p.to_port == 68; };
        const auto offer = receive(is_dhcp);
        if (!offer) return false;
        send(guest_dhcp(3));
        const auto acknowledged = receive(is_dhcp);
        return acknowledged && Address{read_32(*acknowledged, 42 + 16)} == kGuestAddress;
    }
    // Opens a connection to the test's server through the gateway; its state.
    struct Open {
        Segment next;
        UniqueFd server_end;
    };
    std::optional<Open> connect(std::uint16_t guest_port) {
        Segment segment{.to = kGateway, .to_port = server_port_, .from_port = guest_port};
        send(guest_tcp(segment));
        const auto answer = receive_tcp(guest_port);
        if (!answer || answer->flags != (tcp_flag::kSyn | tcp_flag::kAck)) return std::nullopt;
        segment.flags = tcp_flag::kAck;
        segment.sequence += 1;
        segment.acknowledged = answer->sequence + 1;
        send(guest_tcp(segment));
        UniqueFd server_end{::accept4(server_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        return Open{segment, std::move(server_end)};
    }
    bool is_refused(Address to, std::uint16_t port) {
        send(guest_tcp({.to = to, .to_port = port, .from_port = 55555}));
        const auto answer = receive_tcp(55555);
        return answer && answer->has(tcp_flag::kReset);
    }
    std::shared_ptr<NetdLink> link(Mode mode) {
        return NetdLink::open(loop_, "d-test", folder_, policy(mode),
                              [this](const Report& report, const std::function<void()>& done) {
                                  rows_.insert(rows_.end(), report.rows.begin(), report.rows.end());
                                  done();
                              });
    }

    SystemClock clock_;
    EventLoop loop_{clock_};
    std::filesystem::path folder_;
    UniqueFd server_;
    std::uint16_t server_port_ = 0;
    UniqueFd dns_;
    std::uint16_t dns_port_ = 0;
    UniqueFd card_;
    Child netd_;
    std::optional<Frame> last_;
    std::shared_ptr<NetdLink> link_;
    std::vector<DestinationRow> rows_;
};

TEST_F(NetdTest, GivesAnAddressAndAnswersPings) {
    start(Mode::None);
    send(guest_arp(kGateway));
    const auto arp = receive([](const Packet& p) { return p.kind == PacketKind::Arp && !p.arp_request; });
    ASSERT_TRUE(arp);
    EXPECT_EQ(read_packet(*arp).packet.from_mac, kGatewayMac);
    EXPECT_TRUE(get_address());
    send(guest_ping(kGateway));
    EXPECT_TRUE(receive([](const Packet& p) { return p.kind == PacketKind::Icmp && p.icmp_type == 0; }));
}

TEST_F(NetdTest, CarriesAConnectionBothWays) {
    start(Mode::Open);
    ASSERT_TRUE(get_address());
    auto open = connect(40001);
    ASSERT_TRUE(open);
    auto request = open->next;
    request.payload = "from the guest";
    send(guest_tcp(request));
    char buffer[64];
    ASSERT_EQ(::recv(open->server_end.get(), buffer, sizeof buffer, 0), 14);
    EXPECT_EQ((std::string_view{buffer, 14}), "from the guest");
    ASSERT_EQ(::send(open->server_end.get(), "from the host", 13, 0), 13);
    const auto with_data =
        receive([](const Packet& p) { return p.kind == PacketKind::Tcp && p.payload_size > 0; });
    ASSERT_TRUE(with_data);
    const auto packet = read_packet(*with_data).packet;
    EXPECT_EQ(packet.from, kGateway);
    EXPECT_EQ((std::string_view{reinterpret_cast<const char*>(with_data->data()) + packet.payload_at,
                                packet.payload_size}),
              "from the host");
}

TEST_F(NetdTest, RefusesWhatIsNotAllowedAtOnce) {
    start(Mode::Open);
    const auto began = clock_.now();
    EXPECT_TRUE(is_refused(kGateway, 22));
    EXPECT_TRUE(is_refused(kHostLoopback, server_port_));
    EXPECT_TRUE(is_refused(address(169, 254, 169, 254), 80));
    EXPECT_TRUE(is_refused(address(192, 168, 1, 1), 80));
    EXPECT_LT(clock_.now() - began, 5s);
}

TEST_F(NetdTest, AnswersNamesFromTheGivenServer) {
    start(Mode::Open);
    send(guest_udp({.to = kNameServer, .payload = dns_query("example.org")}));
    sockaddr_in from{};
    socklen_t size = sizeof from;
    char buffer[512];
    const auto got =
        ::recvfrom(dns_.get(), buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &size);
    ASSERT_GT(got, 12);
    const auto query = read_dns_query({buffer, static_cast<std::size_t>(got)}).query;
    ASSERT_TRUE(query);
    EXPECT_EQ(query->name, "example.org");
    const auto answer = make_dns_answer(
        *query, {.status = DnsStatus::Good, .addresses = {address(192, 0, 2, 80)}, .lifetime = 60s});
    ::sendto(dns_.get(), answer.data(), answer.size(), 0, reinterpret_cast<const sockaddr*>(&from), size);
    const auto frame =
        receive([](const Packet& p) { return p.kind == PacketKind::Udp && p.from_port == 53; });
    ASSERT_TRUE(frame);
    EXPECT_TRUE(checksums_are_right(*frame));
    EXPECT_EQ(Address{read_32(*frame, frame->size() - 4)}, address(192, 0, 2, 80));
}

TEST_F(NetdTest, CutsConnectionsOffWhenTheNetworkIsSwitchedOff) {
    start(Mode::Open);
    ASSERT_TRUE(get_address());
    auto open = connect(40002);
    ASSERT_TRUE(open);
    link_ = link(Mode::Open);
    const auto applied = loop_.run_until_complete(link_->apply(policy(Mode::None), kPatience));
    ASSERT_TRUE(applied) << applied.error().message;
    const auto reset = receive_tcp(40002);
    ASSERT_TRUE(reset);
    EXPECT_TRUE(reset->has(tcp_flag::kReset));
    char buffer[16];
    EXPECT_LE(::recv(open->server_end.get(), buffer, sizeof buffer, 0), 0)
        << "the server's end is closed too";
    EXPECT_TRUE(is_refused(kGateway, server_port_));
    loop_.run_until_complete(link_->flush(kPatience));
    ASSERT_EQ(rows_.size(), 2U);
    EXPECT_NE(rows_[0].contact.allowed, rows_[1].contact.allowed);
}

TEST_F(NetdTest, ResetsWhatWasConnectedBeforeItCame) {
    start(Mode::Open);
    ASSERT_TRUE(get_address());
    auto open = connect(40003);
    ASSERT_TRUE(open);
    end_netd();
    start(Mode::Open);
    auto next = open->next;
    next.payload = "still there?";
    send(guest_tcp(next));
    const auto reset = receive_tcp(40003);
    ASSERT_TRUE(reset);
    EXPECT_EQ(reset->flags, tcp_flag::kReset);
    EXPECT_EQ(reset->sequence, next.acknowledged);
    EXPECT_TRUE(connect(40004)) << "and new ones work";
}

TEST_F(NetdTest, ReportsToADaemonThatComesLater) {
    start(Mode::Open);
    EXPECT_TRUE(is_refused(address(10, 1, 1, 1), 80));
    EXPECT_TRUE(is_refused(address(10, 1, 1, 1), 80));
    link_ = link(Mode::Open);
    const auto deadline = clock_.now() + kPatience;
    while (rows_.empty() && clock_.now() < deadline) loop_.run_once(5ms);
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[0].counts.connections, 2);
    EXPECT_EQ(rows_[0].contact.address, address(10, 1, 1, 1));
}

TEST_F(NetdTest, EndsWhenItHasSomethingToSayAndQemuHasGone) {
    start(Mode::Open);
    send(guest_arp(kGateway));
    ASSERT_TRUE(receive([](const Packet& p) { return p.kind == PacketKind::Arp; }));
    // Not closed before the question is there: nobody could be asked any more.
    ::shutdown(card_.get(), SHUT_RD);
    send(guest_arp(kGateway));
    pollfd poll{netd_.pidfd.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&poll, 1, 20'000), 1);
    EXPECT_TRUE(wait_exit(netd_).ok());
    netd_ = Child{};
}

}  // namespace
}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/frame_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace dormouse::net {

namespace {

constexpr int kFramesAtOnce = 64;       // then others have their turn
constexpr int kSocketBuffer = 1 << 20;  // bytes that the kernel keeps of what we send

Result<sockaddr_un> socket_address(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto text = path.string();
    if (text.size() >= sizeof address.sun_path)
        return fail(Errc::InvalidArgument, fmt::format("the path of a socket is too long: {}", text));
    std::memcpy(address.sun_path, text.c_str(), text.size());
    return address;
}

}  // namespace

FrameSocket::FrameSocket(EventLoop& loop, UniqueFd socket, OnFrame on_frame, std::function<void()> on_lost)
    : socket_(std::move(socket)),
      on_frame_(std::move(on_frame)),
      on_lost_(std::move(on_lost)),
      buffer_(64 << 10),
      watch_(loop.watch(socket_.get(), POLLIN, [this](short ready) { on_ready(ready); })) {}

Result<std::unique_ptr<FrameSocket>> FrameSocket::open(EventLoop& loop, const std::filesystem::path& own,
                                                       const std::filesystem::path& peer, OnFrame on_frame,
                                                       std::function<void()> on_lost) {
    DORMOUSE_TRY_ASSIGN(const auto own_address, socket_address(own));
    DORMOUSE_TRY_ASSIGN(const auto peer_address, socket_address(peer));
    UniqueFd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!socket) return fail_errno("cannot make a socket for frames");
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBuffer, sizeof kSocketBuffer);
    // Connected first: bound, anybody's frames would come in until then.
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&peer_address), sizeof peer_address) != 0)
        return fail_errno(fmt::format("cannot connect to {}", peer.string()));
    ::unlink(own.c_str());
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&own_address), sizeof own_address) != 0)
        return fail_errno(fmt::format("cannot listen on {}", own.string()));
    return std::unique_ptr<FrameSocket>{
        new FrameSocket{loop, std::move(socket), std::move(on_frame), std::move(on_lost)}};
}

void FrameSocket::on_ready(short ready) {
    if ((ready & POLLOUT) != 0) write_some();
    if ((ready & (POLLIN | POLLERR | POLLHUP)) != 0) read_some();
}

void FrameSocket::read_some() {
    for (int i = 0; i < kFramesAtOnce; ++i) {
        const auto got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN) on_lost_();  // ECONNRESET: QEMU has closed its end
            return;
        }
        on_frame_(MutableBytes{buffer_}.first(static_cast<std::size_t>(got)));
    }
}

FrameSocket::Sent FrameSocket::try_send(Bytes frame) {
    for (;;) {
        if (::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) >= 0) return Sent::Yes;
        if (errno == EINTR) continue;
        return errno == EAGAIN || errno == ENOBUFS ? Sent::Full : Sent::Lost;
    }
}

void FrameSocket::send(Bytes frame) {
    if (queued_.empty()) {
        const auto sent = try_send(frame);
        if (sent == Sent::Lost) on_lost_();
        if (sent != Sent::Full) return;
    }
    if (queued_.size() >= kMostQueued) return;
    queued_.emplace_back(frame.begin(), frame.end());
    watch_.set_events(POLLIN | POLLOUT);
}

void FrameSocket::write_some() {
    while (!queued_.empty() && try_send(queued_.front()) != Sent::Full) queued_.pop_front();
    if (queued_.empty()) watch_.set_events(POLLIN);
}

}  // namespace dormouse::net

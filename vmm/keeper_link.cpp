// SPDX-License-Identifier: Apache-2.0
#include "vmm/keeper_link.h"

#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "vmm/json_fields.h"

namespace dormouse::vmm {

KeeperLink::KeeperLink(EventLoop& loop, UniqueFd socket, Handlers handlers)
    : loop_(loop),
      socket_(std::move(socket)),
      handlers_(std::move(handlers)),
      buffer_(kMaxPayload + 1, '\0') {
    watch_ = loop_.watch(socket_.get(), POLLIN, [this](short revents) { on_ready(revents); });
}

void KeeperLink::send_qmp_line(std::string_view line, UniqueFd fd) {
    while (line.size() > kMaxPayload) {
        send(PacketType::QmpPart, line.substr(0, kMaxPayload));
        line.remove_prefix(kMaxPayload);
    }
    send(PacketType::QmpLine, line, std::move(fd));
}

void KeeperLink::send_guest(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto piece = bytes.substr(0, kMaxPayload);
        send(PacketType::Guest, piece);
        bytes.remove_prefix(piece.size());
    }
}

void KeeperLink::send_guest_credit(std::size_t bytes) {
    send(PacketType::GuestCredit, std::to_string(bytes));
}

void KeeperLink::send_control(const nlohmann::json& message) {
    send(PacketType::Control, dump_json(message));
}

void KeeperLink::send(PacketType type, std::string_view payload, UniqueFd fd) {
    if (!socket_) return;
    DORMOUSE_CHECK(payload.size() <= kMaxPayload);
    std::string bytes;
    bytes.reserve(payload.size() + 1);
    bytes += static_cast<char>(type);
    bytes += payload;
    queued_ += bytes.size();
    packets_.push_back({std::move(bytes), std::move(fd)});
    // An error is left for the loop, which will see it too: callers of send do
    // not expect to be called back.
    if (packets_.size() == 1) write_some();
    if (!packets_.empty()) watch_.set_events(POLLIN | POLLOUT);
}

bool KeeperLink::write_some() {
    while (!packets_.empty()) {
        auto& packet = packets_.front();
        iovec part{packet.bytes.data(), packet.bytes.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
        if (packet.fd) {
            message.msg_control = control;
            message.msg_controllen = sizeof control;
            auto* header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(sizeof(int));
            const int fd = packet.fd.get();
            std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
        }
        if (::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
            if (errno == EINTR) continue;
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        queued_ -= packet.bytes.size();
        packets_.pop_front();
    }
    return true;
}

KeeperLink::Read KeeperLink::read_one() {
    iovec part{buffer_.data(), buffer_.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))]{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    // A peer that closed without having read all we sent shows as a reset, once,
    // before its last packets: those are its exit notice, or that we are replaced.
    if (got < 0 && (errno == ECONNRESET || errno == EINTR))
        got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK ? Read::Nothing : Read::Closed;
    UniqueFd passed;
    for (auto* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const auto count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            UniqueFd owned{fd};
            if (!passed) passed = std::move(owned);
        }
    }
    if (got == 0 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return Read::Closed;
    const std::string_view bytes{buffer_.data(), static_cast<std::size_t>(got)};
    if (!handle(static_cast<PacketType>(bytes[0]), bytes.substr(1), std::move(passed))) return Read::Closed;
    return Read::Packet;
}

bool KeeperLink::handle(PacketType type, std::string_view payload, UniqueFd fd) {
    switch (type) {
        case PacketType::QmpPart:
        case PacketType::QmpLine:
            if (assembling_.size() + payload.size() > kMaxQmpLine) {
                overlong_ = true;
                assembling_.clear();
            }
            if (!overlong_) assembling_ += payload;
            if (type == PacketType::QmpPart) return true;
            if (std::exchange(overlong_, false)) {
                if (handlers_.on_line_dropped) handlers_.on_line_dropped();
            } else if (handlers_.on_qmp_line) {
                handlers_.on_qmp_line(std::exchange(assembling_, {}), std::move(fd));
            }
            assembling_.clear();
            return true;
        case PacketType::Guest:
            if (handlers_.on_guest) handlers_.on_guest(payload);
            return true;
        case PacketType::GuestCredit: {
            std::size_t bytes = 0;
            const auto parsed = std::from_chars(payload.data(), payload.data() + payload.size(), bytes);
            if (parsed.ec != std::errc{}) return false;
            if (handlers_.on_guest_credit) handlers_.on_guest_credit(bytes);
            return true;
        }
        case PacketType::Control: {
            const auto message = parse_json(payload);
            if (!message.is_object()) return false;
            if (handlers_.on_control) handlers_.on_control(message);
            return true;
        }
    }
    return true;  // of a newer version
}

void KeeperLink::drain() {
    while (socket_ && read_one() == Read::Packet) {
    }
}

void KeeperLink::on_ready(short revents) {
    if ((revents & POLLOUT) != 0) {
        const auto before = queued_;
        if (!write_some()) {  // the peer is gone; what it said before is read all the same
            packets_.clear();
            queued_ = 0;
        }
        if (packets_.empty()) watch_.set_events(POLLIN);
        if (queued_ < before && handlers_.on_sent) handlers_.on_sent();
    }
    if ((revents & (POLLIN | POLLHUP | POLLERR)) == 0) return;
    // A few packets only: the others on the loop have their turn too.
    for (int round = 0; round < 16; ++round) {
        switch (read_one()) {
            case Read::Packet:
                break;
            case Read::Nothing:
                return;
            case Read::Closed:
                return close();
        }
    }
}

void KeeperLink::close() {
    watch_.reset();
    socket_.reset();
    packets_.clear();
    queued_ = 0;
    const auto on_closed = std::move(handlers_.on_closed);
    if (on_closed) on_closed();
}

}  // namespace dormouse::vmm

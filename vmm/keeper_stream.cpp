// SPDX-License-Identifier: Apache-2.0
#include "vmm/keeper_stream.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace dormouse::vmm {

ByteStream::ByteStream(EventLoop& loop, UniqueFd socket, Handlers handlers)
    : loop_(loop), socket_(std::move(socket)), handlers_(std::move(handlers)) {
    update_watch();
}

void ByteStream::send(std::string bytes, UniqueFd fd) {
    if (!socket_ || bytes.empty()) return;
    queued_ += bytes.size();
    chunks_.push_back({std::move(bytes), std::move(fd)});
    if (chunks_.size() == 1 && !write_some()) return;  // the loop will notice the end as well
    update_watch();
}

void ByteStream::drop_queued() {
    while (chunks_.size() > (offset_ > 0 ? 1U : 0U)) {
        queued_ -= chunks_.back().bytes.size();
        chunks_.pop_back();
    }
    update_watch();
}

void ByteStream::set_reading(bool reading) {
    if (reading_ == reading) return;
    reading_ = reading;
    update_watch();
}

void ByteStream::update_watch() {
    if (!socket_) return;
    const auto events = static_cast<short>((reading_ ? POLLIN : 0) | (chunks_.empty() ? 0 : POLLOUT));
    // Without any event there must be no watch at all: poll() reports a hang-up
    // even to those who wait for nothing, again and again.
    if (events == 0) {
        watch_.reset();
    } else if (watch_) {
        watch_.set_events(events);
    } else {
        watch_ = loop_.watch(socket_.get(), events, [this](short revents) { on_ready(revents); });
    }
}

void ByteStream::on_ready(short revents) {
    if ((revents & POLLOUT) != 0 && !write_some()) return close();
    if ((revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
        if (!reading_) {
            // Hung up while the reader is paused: what is left is read later.
            chunks_.clear();
            queued_ = 0;
        } else if (!read_some()) {
            return close();
        }
    }
    update_watch();
}

bool ByteStream::read_some() {
    char buffer[32 << 10];
    // A few rounds only: the others on the loop have their turn too.
    for (int round = 0; round < 8 && reading_; ++round) {
        const auto got = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (got == 0) return false;
        if (got < 0) {
            if (errno == EINTR) continue;
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        handlers_.on_bytes({buffer, static_cast<std::size_t>(got)});
    }
    return true;
}

void ByteStream::drain() {
    char buffer[32 << 10];
    while (socket_) {
        const auto got = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (got <= 0) return;
        handlers_.on_bytes({buffer, static_cast<std::size_t>(got)});
    }
}

bool ByteStream::write_some() {
    while (!chunks_.empty()) {
        auto& chunk = chunks_.front();
        iovec part{chunk.bytes.data() + offset_, chunk.bytes.size() - offset_};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
        if (chunk.fd) {
            message.msg_control = control;
            message.msg_controllen = sizeof control;
            auto* header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(sizeof(int));
            const int fd = chunk.fd.get();
            std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
        }
        const auto sent = ::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) continue;
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        chunk.fd.reset();  // QEMU has its own now
        offset_ += static_cast<std::size_t>(sent);
        queued_ -= static_cast<std::size_t>(sent);
        if (offset_ == chunk.bytes.size()) {
            chunks_.pop_front();
            offset_ = 0;
        }
        if (handlers_.on_sent) handlers_.on_sent(static_cast<std::size_t>(sent));
    }
    return true;
}

void ByteStream::close() {
    watch_.reset();
    socket_.reset();
    chunks_.clear();
    queued_ = 0;
    const auto on_closed = std::move(handlers_.on_closed);
    if (on_closed) on_closed();
}

namespace {

Result<sockaddr_un> address_of(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto text = path.string();
    if (text.size() >= sizeof address.sun_path)
        return fail(
            Errc::InvalidArgument,
            fmt::format("the socket path {} is longer than {} bytes", text, sizeof address.sun_path - 1),
            "use a shorter run folder");
    std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Result<UniqueFd> connect_unix(const std::filesystem::path& path, int type) {
    DORMOUSE_TRY_ASSIGN(const auto address, address_of(path));
    UniqueFd fd{::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd) return fail_errno("cannot make a socket");
    if (::connect(fd.get(), generic(address), sizeof address) != 0)
        return fail_errno(fmt::format("cannot connect to {}", path.string()));
    return fd;
}

Result<UniqueFd> listen_unix(const std::filesystem::path& path, int type) {
    DORMOUSE_TRY_ASSIGN(const auto address, address_of(path));
    UniqueFd fd{::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd) return fail_errno("cannot make a socket");
    ::unlink(path.c_str());
    const auto old_mask = ::umask(0177);
    const int bound = ::bind(fd.get(), generic(address), sizeof address);
    const int code = errno;
    ::umask(old_mask);
    if (bound != 0) return fail_errno(fmt::format("cannot bind {}", path.string()), code);
    if (::listen(fd.get(), 8) != 0) return fail_errno(fmt::format("cannot listen on {}", path.string()));
    return fd;
}

}  // namespace dormouse::vmm

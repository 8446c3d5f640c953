// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "hostd/base/log.h"

namespace dormouse::wsio {

namespace {

struct FreeAddresses {
    void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> resolve(const std::string& address, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int rc = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (rc != 0)
        return fail(Errc::InvalidArgument,
                    fmt::format("cannot listen on {}: {}", address, ::gai_strerror(rc)));
    return Addresses{found};
}

std::string address_text(const sockaddr_storage& address, socklen_t length) {
    char host[NI_MAXHOST];
    char service[NI_MAXSERV];
    if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host, sizeof host, service,
                      sizeof service, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "unknown";
    if (address.ss_family == AF_INET6) return fmt::format("[{}]:{}", host, service);
    return fmt::format("{}:{}", host, service);
}

}  // namespace

Result<UniqueFd> listen_on(const std::string& address, std::uint16_t port) {
    DORMOUSE_TRY_ASSIGN(auto addresses, resolve(address, port));
    UniqueFd fd{::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd) return fail_errno("cannot make a socket");
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (addresses->ai_family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);

    if (::bind(fd.get(), addresses->ai_addr, addresses->ai_addrlen) == 0 && ::listen(fd.get(), 256) == 0)
        return fd;
    const int os_error = errno;
    switch (os_error) {
        case EADDRINUSE:
            return fail(Errc::Conflict,
                        fmt::format("port {} on {} is in use by another program", port, address),
                        "stop that program, or listen elsewhere: DORMOUSE_LISTEN=address:port");
        case EADDRNOTAVAIL:
            return fail(Errc::InvalidArgument, fmt::format("{} is not an address of this machine", address));
        default:
            return fail_errno(fmt::format("cannot listen on {} port {}", address, port), os_error);
    }
}

std::uint16_t local_port(int socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
    if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

std::string remote_text(int socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return "unknown";
    return address_text(address, length);
}

Acceptor::Acceptor(UniqueFd listener)
    : listener_(std::move(listener)), spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

UniqueFd Acceptor::accept() {
    for (;;) {
        UniqueFd fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
        if (fd) {
            // Answers are written whole; waiting to fill packets only costs time.
            const int on = 1;
            ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return fd;
        }
        if (errno == ECONNABORTED || errno == EINTR) continue;
        if ((errno != EMFILE && errno != ENFILE) || !spare_) return {};
        log::warn("http.no_descriptors");
        spare_.reset();
        UniqueFd refused{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        refused.reset();
        spare_.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
}

}  // namespace dormouse::wsio

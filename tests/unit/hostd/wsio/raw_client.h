// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "hostd/base/unique_fd.h"

namespace dormouse::wsio {

// A client that says exactly the bytes it is told to. Reading gives up after 20
// seconds, so that a test fails instead of hanging.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const timeval patience{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }

    bool connected() const { return connected_; }

    // False when the server has closed.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }
    bool send_bytewise(std::string_view bytes) {
        for (const char& c : bytes)
            if (!send({&c, 1})) return false;
        return true;
    }
    void close_sending() { ::shutdown(fd_.get(), SHUT_WR); }
    void close() { fd_.reset(); }

    // Until the server closes.
    std::string read_all() {
        while (read_more()) {
        }
        return std::exchange(read_, {});
    }
    // Up to and with `end`, or all when the server closes before.
    std::string read_until(std::string_view end) {
        auto found = read_.find(end);
        while (found == std::string::npos && read_more()) found = read_.find(end);
        const auto count = found == std::string::npos ? read_.size() : found + end.size();
        auto result = read_.substr(0, count);
        read_.erase(0, count);
        return result;
    }

  private:
    bool read_more() {
        char buffer[16384];
        const auto count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
        if (count <= 0) return false;
        read_.append(buffer, static_cast<std::size_t>(count));
        return true;
    }

    UniqueFd fd_;
    bool connected_ = false;
    std::string read_;
};

}  // namespace dormouse::wsio

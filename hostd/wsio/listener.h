// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "hostd/base/result.h"
#include "hostd/base/unique_fd.h"

namespace dormouse::wsio {

// A TCP socket that listens, not blocking. Errc::Conflict when the port is taken,
// Errc::InvalidArgument when the address is not one of this machine's. Resolving
// a name may block.
Result<UniqueFd> listen_on(const std::string& address, std::uint16_t port);

std::uint16_t local_port(int socket);
std::string remote_text(int socket);  // "127.0.0.1:1234", "[::1]:1234", or "unknown"

// Takes the connections that wait at a listening socket.
class Acceptor {
  public:
    explicit Acceptor(UniqueFd listener);

    int listener() const { return listener_.get(); }

    // The next connection, not blocking, or an empty descriptor when none waits.
    // When the process has no descriptors left, connections are closed at once:
    // left waiting they would keep the loop busy.
    UniqueFd accept();

  private:
    UniqueFd listener_;
    UniqueFd spare_;  // given up for a moment to accept what must be closed
};

}  // namespace dormouse::wsio

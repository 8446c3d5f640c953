// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/unique_fd.h"
#include "vmm/keeper_stream.h"
#include "vmm/line_framer.h"
#include "vmm/net/control_protocol.h"
#include "vmm/net/destination_log.h"
#include "vmm/net/frame_socket.h"
#include "vmm/net/gate.h"
#include "vmm/net/name_cache.h"
#include "vmm/net/name_server.h"
#include "vmm/net/resolver.h"
#include "vmm/net/slirp_stack.h"

namespace dormouse::net {

// The inside of dormouse-netd: one desktop's whole network.
//
// Owns the socket to QEMU's card, the stack, the name server, and the control
// socket with at most one connection (a newer one replaces the older). It keeps
// what there is to report until a daemon has it. On the loop's thread; it lives
// until the process is ended.
class Netd {
  public:
    // Reports go out as often, and when they are asked for.
    static constexpr Duration kHousekeeping = std::chrono::seconds{5};

    // Errc::NotFound or Unavailable while QEMU's socket is not there.
    static Result<std::unique_ptr<Netd>> start(EventLoop& loop, NetdConfig config);
    Netd(const Netd&) = delete;
    Netd& operator=(const Netd&) = delete;
    ~Netd();

    void run();  // until QEMU has closed its end

  private:
    Netd(EventLoop& loop, NetdConfig config);
    Gate::Outputs outputs();
    Result<> open_sockets();
    std::size_t apply(PolicySettings settings);

    void accept_control();
    void serve(UniqueFd connection);
    void on_control(const ToNetd& message);
    void say(const FromNetd& message);
    void send_report();  // and what the connections carried until now
    void send_pending();
    void keep_house();

    EventLoop& loop_;
    const NetdConfig config_;
    std::set<Address> own_addresses_;
    PolicySettings settings_;
    DestinationLog log_;
    NameCache names_;
    Gate gate_;
    // Each may still call those above it when it goes.
    std::unique_ptr<FrameSocket> frames_;
    std::unique_ptr<NameServer> name_server_;
    std::unique_ptr<Resolver> resolver_;
    std::unique_ptr<SlirpStack> stack_;
    bool ended_ = false;

    UniqueFd listener_;
    EventLoop::IoWatch listen_watch_;
    std::unique_ptr<vmm::ByteStream> control_;
    std::uint64_t control_number_ = 0;  // of the connection
    std::optional<vmm::LineFramer> lines_;
    std::optional<std::int64_t> flush_;  // to be confirmed when there is nothing left to report
};

}  // namespace dormouse::net

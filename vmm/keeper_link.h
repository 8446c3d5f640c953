// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hostd/base/event_loop.h"
#include "hostd/base/unique_fd.h"
#include "vmm/keeper_protocol.h"

namespace dormouse::vmm {

// One end of a connection between daemon and keeper; both use this class.
//
// Owns the socket (SOCK_SEQPACKET). Sending queues and never blocks; the sender
// bounds it by looking at queued(). Lives on the loop's thread. Handlers are
// called from the loop (and from drain()); only in on_closed may the link be
// destroyed. After on_closed nothing is called any more and sends are dropped.
class KeeperLink {
  public:
    struct Handlers {
        std::function<void(std::string line, UniqueFd fd)> on_qmp_line;
        std::function<void()> on_line_dropped;  // it was longer than kMaxQmpLine
        std::function<void(std::string_view bytes)> on_guest;
        std::function<void(std::size_t bytes)> on_guest_credit;
        std::function<void(const nlohmann::json& message)> on_control;
        std::function<void()> on_sent;    // queued() went down
        std::function<void()> on_closed;  // the peer went away or spoke nonsense
    };

    KeeperLink(EventLoop& loop, UniqueFd socket, Handlers handlers);
    KeeperLink(const KeeperLink&) = delete;
    KeeperLink& operator=(const KeeperLink&) = delete;

    void send_qmp_line(std::string_view line, UniqueFd fd = {});  // in as many packets as it takes
    void send_guest(std::string_view bytes);
    void send_guest_credit(std::size_t bytes);
    void send_control(const nlohmann::json& message);  // shorter than kMaxPayload

    std::size_t queued() const { return queued_; }
    bool open() const { return static_cast<bool>(socket_); }
    // Handles the packets that are there. Does not call on_closed.
    void drain();

  private:
    struct Packet {
        std::string bytes;
        UniqueFd fd;
    };
    enum class Read { Packet, Nothing, Closed };

    void send(PacketType type, std::string_view payload, UniqueFd fd = {});
    bool write_some();
    Read read_one();
    bool handle(PacketType type, std::string_view payload, UniqueFd fd);  // false: nonsense
    void on_ready(short revents);
    void close();

    EventLoop& loop_;
    UniqueFd socket_;
    Handlers handlers_;
    std::deque<Packet> packets_;
    std::size_t queued_ = 0;
    std::string assembling_;  // the parts of a QMP line so far
    bool overlong_ = false;
    std::string buffer_;
    EventLoop::IoWatch watch_;
};

}  // namespace dormouse::vmm

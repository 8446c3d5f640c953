// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hostd/base/event_loop.h"
#include "hostd/base/process.h"
#include "hostd/base/result.h"
#include "hostd/base/unique_fd.h"
#include "vmm/keeper_link.h"
#include "vmm/keeper_network.h"
#include "vmm/keeper_output.h"
#include "vmm/keeper_protocol.h"
#include "vmm/keeper_stream.h"
#include "vmm/line_framer.h"

namespace dormouse::vmm {

// The inside of dormouse-keeper: parent of one QEMU and its one client.
//
// Owns QEMU, which dies with the thread that made it; the connections to it;
// the desktop's network process;
// the listening socket and the one connection to a daemon (a newer one
// replaces the older). Lives on the loop's thread. It ends when QEMU ends: then
// exit.json is written, the sockets are removed and `on_finished` is called.
//
// Memory is bounded: a daemon that does not read stops what is read from QEMU,
// a QEMU that does not read costs the lines beyond a limit (the daemon is
// told), and guest bytes are granted by credit. No wait is ever for a peer.
class Keeper {
  public:
    static constexpr std::size_t kKeptEvents = 200;
    static constexpr std::size_t kKeptEventBytes = 1 << 20;
    static constexpr std::size_t kMaxQueuedForQemu = 16 << 20;
    static constexpr std::size_t kMaxQueuedLines = 512;      // each may hold a descriptor
    static constexpr std::size_t kPauseGuestAt = 512 << 10;  // queued for the daemon
    static constexpr std::size_t kPauseQmpAt = 1 << 20;

    // Starts QEMU. On an error nothing is left. `on_finished` comes from the loop.
    static Result<std::unique_ptr<Keeper>> start(EventLoop& loop, LaunchFile file, Spawner& spawner,
                                                 std::function<void()> on_finished);
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;
    ~Keeper();

    void serve(UniqueFd daemon);  // a connection made by other means than the socket
    void end(Duration grace);     // QMP quit; SIGKILL after `grace`
    pid_t qemu_pid() const { return qemu_.pid; }

  private:
    Keeper(EventLoop& loop, LaunchFile file, std::function<void()> on_finished);
    Result<> start_qemu(Spawner& spawner);
    Result<> write_state() const;

    void connect_qmp();
    void on_qmp_connected(UniqueFd socket);
    void negotiate(const std::string& line);
    void connect_guest();
    void become_ready();
    void on_launch_timeout();

    void accept_daemons();
    KeeperHello hello() const;
    void on_daemon_line(std::string line, UniqueFd fd);
    void on_daemon_guest(std::string_view bytes);
    void on_daemon_control(const nlohmann::json& message);
    void refuse_line(std::string_view why);

    void on_qmp_bytes(std::string_view bytes);
    void on_qmp_line(std::string line);
    void keep_event(std::string line);
    void on_guest_bytes(std::string_view bytes);
    void update_reading();

    void kill_qemu();
    void on_qemu_exit();
    void finish_soon(MonotonicTime deadline);
    void remove_sockets() const;

    EventLoop& loop_;
    const LaunchFile file_;
    std::function<void()> on_finished_;
    const MonotonicTime started_;
    Child qemu_;
    bool requested_ = false;
    std::optional<ExitRecord> exit_;
    std::string shutdown_reason_;

    std::unique_ptr<KeeperNetwork> network_;  // null: the desktop has none
    std::unique_ptr<OutputLog> output_;
    std::unique_ptr<ByteStream> qmp_stream_;
    std::unique_ptr<ByteStream> guest_stream_;
    LineFramer qmp_lines_{kMaxQmpLine};
    bool ready_ = false;
    std::string qemu_version_;

    UniqueFd lock_;
    UniqueFd listener_;
    std::unique_ptr<KeeperLink> daemon_;
    std::deque<std::string> kept_events_;  // while there is no daemon
    std::size_t kept_bytes_ = 0;

    EventLoop::IoWatch exit_watch_;
    EventLoop::IoWatch listen_watch_;
    EventLoop::TimerId connect_timer_ = 0;
    EventLoop::TimerId launch_timer_ = 0;
    EventLoop::TimerId kill_timer_ = 0;
    std::optional<MonotonicTime> kill_at_;
};

}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/base/process.h"
#include "hostd/base/result.h"
#include "hostd/base/task.h"
#include "hostd/base/unique_fd.h"
#include "vmm/keeper_protocol.h"
#include "vmm/qemu_command.h"
#include "vmm/qmp_client.h"

namespace dormouse::vmm {

class GuestChannel;
class KeeperLink;

// What it takes to start one QEMU under a keeper.
//
// `run_folder` belongs to this one desktop and is short (a socket path has at
// most 107 bytes). `desktop_folder` gets launch.json, exit.json, keeper.log and
// qemu.log. Both must be writable for `uid` when one is given.
struct LaunchOptions {
    std::string id;    // of the desktop; for logs and messages
    CommandLine qemu;  // argv and env; `descriptors`, `uid`, `directory` and so on are not used
    std::filesystem::path run_folder;      // made (0700) when absent
    std::filesystem::path desktop_folder;  // must exist
    std::filesystem::path keeper_binary;   // dormouse-keeper
    std::filesystem::path qmp_socket;      // where QEMU listens; empty: run_folder/qmp.sock
    std::filesystem::path
        guest_socket;          // the agent's chardev; empty: run_folder/agent.sock; "-": there is none
    std::optional<uid_t> uid;  // of keeper and QEMU, set before exec
    std::optional<gid_t> gid;
    Duration timeout = std::chrono::seconds{20};  // until QMP answers
    std::filesystem::path netd_binary;            // dormouse-netd; empty: the desktop has no network
    nlohmann::json netd_config;                   // net::to_json(NetdConfig), as JSON
};

// One QEMU under its keeper, as the daemon sees it.
//
// Owns only the connection to the keeper: destroying a Machine disconnects, the
// desktop lives on and can be adopted again. Use quit() or kill_now() to end
// it. Lives on the loop's thread; so do all callbacks. Operations that are in
// progress keep the Machine alive until they have ended; disconnect() ends
// them with Errc::Interrupted.
class Machine : public std::enable_shared_from_this<Machine> {
  public:
    struct Listener {
        // The process is gone, and the keeper too. Called once, last of all.
        std::function<void(ExitRecord)> on_exit;
        // QMP events: SHUTDOWN, RESET, STOP, RESUME, BLOCK_IO_ERROR, MIGRATION...
        std::function<void(std::string name, nlohmann::json data)> on_event;
    };

    // Starts a keeper and QEMU and waits until QMP answers. On an error no
    // process and no socket is left; the message carries QEMU's last lines.
    static Task<Result<std::shared_ptr<Machine>>> start(EventLoop& loop, LaunchOptions options);

    // Connects to a keeper that runs already, for a daemon that was restarted.
    // Errc::NotFound when there is none: then see read_exit_record().
    static Task<Result<std::shared_ptr<Machine>>> adopt(EventLoop& loop, std::string id,
                                                        std::filesystem::path run_folder,
                                                        Duration timeout = std::chrono::seconds{20});

    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    ~Machine();

    // What happened before this call is delivered soon after it, in order
    // (after adopt(): the events that came while no daemon was there).
    void set_listener(Listener listener);

    // QEMU's answer ("return"). Errors carry QEMU's own description.
    // Errc::Unavailable when the machine is gone, Interrupted when it goes.
    Task<Result<nlohmann::json>> qmp(std::string command, nlohmann::json arguments = nlohmann::json::object(),
                                     Duration timeout = std::chrono::seconds{10});
    // The same, with a descriptor for QEMU (getfd, add-fd).
    Task<Result<nlohmann::json>> qmp_with_fd(std::string command, nlohmann::json arguments, UniqueFd fd,
                                             Duration timeout = std::chrono::seconds{10});

    // Loads a migration stream (a file or the reading end of a pipe) into a QEMU
    // that was started with `-incoming defer -S`; then it is paused. QEMU ends
    // when the stream is bad, and the error carries what it said.
    Task<Result<>> restore(UniqueFd state, Duration timeout = std::chrono::minutes{5});
    // Writes a full migration stream to a pipe or file. The machine should be
    // paused; it stays so.
    Task<Result<>> save_to(UniqueFd out, Duration timeout = std::chrono::minutes{15});

    Task<Result<>> resume();                // cont
    Task<Result<>> pause();                 // stop
    Task<Result<std::string>> run_state();  // "running", "paused", "inmigrate", ...

    // A new connection to the screen, by the protocol that this machine was
    // started with; QEMU is the server at the other end.
    struct DisplayConnection {
        UniqueFd socket;
        DisplayProtocol protocol = DisplayProtocol::Dbus;
    };
    Task<Result<DisplayConnection>> open_display();

    // `events` as in QMP's input-send-event. QEMU refuses them while it is paused.
    Task<Result<>> send_input(nlohmann::json events);

    // What the network process is told when the keeper starts it the next time.
    // `start_it_now`: the one that runs is ended at once.
    enum class NetdStart { WhenItEnds, Now };
    void keep_netd_config(nlohmann::json config, NetdStart start);

    // The agent's connection. reset() is called on it by the machine at each
    // (re)connection and whenever the guest opens its port.
    GuestChannel& guest() { return *guest_; }

    // QMP quit, and kill after `grace`; both done by the keeper, so also when
    // this daemon ends in the middle. Returns when QEMU and keeper are gone.
    // Ending a machine that is gone already is fine.
    Task<Result<ExitRecord>> quit(Duration grace = std::chrono::seconds{5});
    Task<Result<ExitRecord>> kill_now() { return quit(Duration::zero()); }

    // Ends the connection and whatever is pending, without touching the desktop.
    void disconnect();

    bool alive() const { return !exit_; }  // false once QEMU has ended
    const std::optional<ExitRecord>& exit_record() const { return exit_; }
    pid_t qemu_pid() const { return hello_.qemu_pid; }
    pid_t keeper_pid() const { return hello_.keeper_pid; }
    const std::string& qemu_version() const { return hello_.qemu_version; }  // "7.2.22"
    const std::string& id() const { return id_; }

  private:
    Machine(EventLoop& loop, std::string id, std::filesystem::path run_folder);

    // Connection (machine_link.cpp).
    void attach(UniqueFd connection);
    void reconnect();
    void on_hello(const nlohmann::json& message);
    void on_control(const nlohmann::json& message);
    void on_guest_credit(std::size_t bytes);
    void on_qmp_event(std::string name, nlohmann::json data);
    void on_link_closed();
    void watch_processes();
    void on_keeper_gone();
    void finish(ExitRecord record);
    Result<> send_qmp(std::string line, UniqueFd fd);
    void send_guest(std::string bytes);
    void pump_guest();
    void schedule_delivery();
    void deliver();
    void wake_waiting();
    Error gone_error() const;

    // Coroutines; their callers hold the machine.
    Task<void> wait_change(Duration longest);
    Task<Result<>> wait_ready(Duration timeout);
    Task<Result<>> wait_incoming(Duration timeout);
    Task<Result<>> wait_outgoing(Duration timeout);
    Task<Result<>> abandon_launch(Error reason);
    Task<Result<std::string>> pass_fd(UniqueFd fd);
    Task<Result<UniqueFd>> open_display_by(DisplayProtocol protocol);
    Task<Result<>> simple(std::string command);

    EventLoop& loop_;
    const std::string id_;
    const std::filesystem::path run_folder_;
    std::unique_ptr<KeeperLink> link_;
    std::unique_ptr<QmpClient> qmp_;
    std::unique_ptr<GuestChannel> guest_;
    std::string guest_out_;            // not yet sent to the keeper
    std::size_t guest_in_flight_ = 0;  // sent, not yet taken by QEMU
    KeeperHello hello_;
    bool has_hello_ = false;
    bool replaced_ = false;      // another connection to the keeper took over
    bool disconnected_ = false;  // by disconnect()
    bool attached_ = false;      // the first connection is made
    std::optional<Error> launch_error_;
    UniqueFd keeper_pidfd_;
    UniqueFd qemu_pidfd_;
    EventLoop::IoWatch keeper_watch_;
    EventLoop::IoWatch qemu_watch_;
    std::optional<ExitRecord> announced_;  // the keeper's notice; final once the keeper is gone
    std::optional<ExitRecord> exit_;
    bool exit_delivered_ = false;
    Listener listener_;
    bool has_listener_ = false;
    bool delivery_scheduled_ = false;
    std::deque<std::pair<std::string, nlohmann::json>> undelivered_;
    std::vector<Completion<bool>> waiting_;
    std::uint64_t next_fd_ = 1;
};

// The record a keeper left in `desktop_folder`. Errc::NotFound when the machine
// did not end, or its keeper was killed with it. Blocks briefly.
Result<ExitRecord> read_exit_record(const std::filesystem::path& desktop_folder);

}  // namespace dormouse::vmm

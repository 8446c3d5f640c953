// SPDX-License-Identifier: Apache-2.0
#include "vmm/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "vmm/json_fields.h"
#include "vmm/qemu_command.h"
#include "vmm/qmp_client.h"

namespace dormouse::vmm {

using nlohmann::json;

namespace {

// The id of the keeper's own commands; a daemon's ids begin with random digits.
constexpr const char* kOwnId = "keeper";

// QEMU makes its sockets some tens of milliseconds after its start, later on a
// busy host: look often at first, since every desktop's start waits for this.
constexpr auto kConnectInterval = std::chrono::milliseconds{2};
constexpr auto kSlowConnectInterval = std::chrono::milliseconds{25};
constexpr auto kFastConnectTime = std::chrono::seconds{1};

// How long the exit notice may wait for a daemon that does not read.
constexpr auto kFarewell = std::chrono::seconds{2};

std::string own_command(const char* command) {
    return fmt::format("{{\"execute\": \"{}\", \"id\": \"{}\"}}\n", command, kOwnId);
}

}  // namespace

Keeper::Keeper(EventLoop& loop, LaunchFile file, std::function<void()> on_finished)
    : loop_(loop),
      file_(std::move(file)),
      on_finished_(std::move(on_finished)),
      started_(loop.clock().now()) {}

Keeper::~Keeper() {
    for (const auto timer : {connect_timer_, launch_timer_, kill_timer_}) loop_.cancel_timer(timer);
    if (qemu_.pid > 0 && !exit_) {
        kill_qemu();
        wait_exit(qemu_);
        remove_sockets();
    }
}

Result<std::unique_ptr<Keeper>> Keeper::start(EventLoop& loop, LaunchFile file, Spawner& spawner,
                                              std::function<void()> on_finished) {
    std::unique_ptr<Keeper> keeper{new Keeper{loop, std::move(file), std::move(on_finished)}};
    // Not by a look at the socket: that would take the connection from its daemon.
    DORMOUSE_TRY_ASSIGN(keeper->lock_, lock_file(keeper_lock(keeper->file_.run_folder)));
    keeper->remove_sockets();  // of one that was killed
    DORMOUSE_TRY_ASSIGN(keeper->listener_,
                        listen_unix(keeper_socket(keeper->file_.run_folder), SOCK_SEQPACKET));
    if (!keeper->file_.netd_binary.empty())
        keeper->network_ = std::make_unique<KeeperNetwork>(
            loop, spawner, keeper->file_.netd_binary, keeper->file_.run_folder, keeper->file_.netd_config);
    auto started = keeper->start_qemu(spawner);
    if (started) started = keeper->write_state();
    if (!started) {
        keeper->remove_sockets();
        ::unlink(keeper_lock(keeper->file_.run_folder).c_str());
        return fail(started.error());
    }
    auto& self = *keeper;
    self.listen_watch_ = loop.watch(self.listener_.get(), POLLIN, [&self](short) { self.accept_daemons(); });
    self.exit_watch_ = loop.watch(self.qemu_.pidfd.get(), POLLIN, [&self](short) { self.on_qemu_exit(); });
    self.launch_timer_ =
        loop.after(std::chrono::milliseconds{self.file_.timeout_ms}, [&self] { self.on_launch_timeout(); });
    self.connect_qmp();
    return keeper;
}

Result<> Keeper::start_qemu(Spawner& spawner) {
    int pipe_fds[2];
    if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
    UniqueFd reader{pipe_fds[0]};
    const UniqueFd writer{pipe_fds[1]};
    CommandLine command;
    command.argv = file_.argv;
    command.env = file_.env;
    command.descriptors = {{1, writer.get()}, {2, writer.get()}};
    command.die_with_parent = true;
    DORMOUSE_TRY_ASSIGN(qemu_, spawner.start(command));
    output_ = std::make_unique<OutputLog>(loop_, std::move(reader), file_.desktop_folder / "qemu.log");
    log::info("qemu.started", {{"desktop", file_.id}, {"pid", qemu_.pid}});
    return {};
}

// For whoever looks for leftovers in the run folder; see machine_leftovers.h.
Result<> Keeper::write_state() const {
    const auto path = keeper_state(file_.run_folder);
    const json state{{"id", file_.id},
                     {"identity", file_.identity},
                     {"desktop_folder", file_.desktop_folder.string()},
                     {"keeper_pid", ::getpid()},
                     {"qemu_pid", qemu_.pid}};
    DORMOUSE_TRY_ASSIGN(const auto file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
    return write_all(file.get(), dump_json(state) + "\n");
}

void Keeper::connect_qmp() {
    connect_timer_ = 0;
    if (exit_) return;
    if (auto socket = connect_unix(file_.qmp_socket, SOCK_STREAM))
        return on_qmp_connected(std::move(*socket));
    const bool fast = loop_.clock().now() - started_ < kFastConnectTime;
    connect_timer_ = loop_.after(fast ? kConnectInterval : kSlowConnectInterval, [this] { connect_qmp(); });
}

void Keeper::on_qmp_connected(UniqueFd socket) {
    ByteStream::Handlers handlers;
    handlers.on_bytes = [this](std::string_view bytes) { on_qmp_bytes(bytes); };
    handlers.on_closed = [this] { qmp_stream_.reset(); };  // it is about to end
    qmp_stream_ = std::make_unique<ByteStream>(loop_, std::move(socket), std::move(handlers));
}

// Done once here, so that a restarted daemon finds a monitor that is ready.
void Keeper::negotiate(const std::string& line) {
    const auto message = parse_qmp_message(line);
    if (!message) return;
    if (message->kind == QmpMessage::Kind::Greeting) {
        const auto& version = field(field(message->value, "version"), "qemu");
        qemu_version_ = fmt::format("{}.{}.{}", int_field(version, "major"), int_field(version, "minor"),
                                    int_field(version, "micro"));
        qmp_stream_->send(own_command("qmp_capabilities"));
    } else if (message->kind == QmpMessage::Kind::Return && message->id == kOwnId) {
        connect_guest();
        become_ready();
    }
}

void Keeper::connect_guest() {
    if (file_.guest_socket.empty()) return;
    // It is there: QEMU makes all its sockets before it answers on any of them.
    auto socket = connect_unix(file_.guest_socket, SOCK_STREAM);
    if (!socket) {
        log::error("guest.unreachable", {{"desktop", file_.id}, {"why", socket.error().message}});
        return;
    }
    ByteStream::Handlers handlers;
    handlers.on_bytes = [this](std::string_view bytes) { on_guest_bytes(bytes); };
    handlers.on_sent = [this](std::size_t bytes) {
        if (daemon_) daemon_->send_guest_credit(bytes);
    };
    handlers.on_closed = [this] { guest_stream_.reset(); };
    guest_stream_ = std::make_unique<ByteStream>(loop_, std::move(*socket), std::move(handlers));
}

void Keeper::become_ready() {
    ready_ = true;
    // QEMU has made its sockets: the network's end can connect.
    if (network_) network_->start();
    loop_.cancel_timer(std::exchange(launch_timer_, 0));
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(loop_.clock().now() - started_);
    log::info("qemu.ready", {{"desktop", file_.id}, {"version", qemu_version_}, {"took_ms", took.count()}});
    if (daemon_) {
        auto message = to_json(hello());
        message["type"] = "ready";
        daemon_->send_control(message);
    }
    if (requested_) qmp_stream_->send(own_command("quit"));
}

void Keeper::on_launch_timeout() {
    launch_timer_ = 0;
    log::error("qemu.silent", {{"desktop", file_.id}});
    if (daemon_)
        daemon_->send_control(
            {{"type", "failed"}, {"message", "QEMU did not answer on its monitor in time"}});
    end(Duration::zero());
}

void Keeper::on_qmp_bytes(std::string_view bytes) {
    qmp_lines_.feed(bytes);
    while (auto line = qmp_lines_.next()) on_qmp_line(std::move(*line));
}

void Keeper::on_qmp_line(std::string line) {
    if (!ready_) negotiate(line);
    // Rare enough, and the reason is wanted also when a daemon is there.
    const bool shutdown = line.find("\"SHUTDOWN\"") != std::string::npos;
    if (ready_ && daemon_) {
        daemon_->send_qmp_line(line);
        update_reading();
        if (!shutdown) return;
    }
    const auto message = parse_qmp_message(line);
    if (!message || message->kind != QmpMessage::Kind::Event) return;
    if (message->name == "SHUTDOWN") shutdown_reason_ = text_field(message->value, "reason");
    if (!daemon_) keep_event(std::move(line));
}

void Keeper::keep_event(std::string line) {
    kept_bytes_ += line.size();
    kept_events_.push_back(std::move(line));
    while (kept_events_.size() > kKeptEvents || kept_bytes_ > kKeptEventBytes) {
        kept_bytes_ -= kept_events_.front().size();
        kept_events_.pop_front();
    }
}

void Keeper::on_guest_bytes(std::string_view bytes) {
    if (!daemon_) return;  // nobody listens; the next daemon begins a new session
    daemon_->send_guest(bytes);
    update_reading();
}

void Keeper::update_reading() {
    const auto queued = daemon_ ? daemon_->queued() : 0;
    if (qmp_stream_) qmp_stream_->set_reading(queued < kPauseQmpAt);
    if (guest_stream_) guest_stream_->set_reading(queued < kPauseGuestAt);
}

void Keeper::end(Duration grace) {
    if (exit_) return;
    const auto deadline = loop_.clock().now() + grace;
    if (!requested_) {
        requested_ = true;
        if (ready_ && qmp_stream_) qmp_stream_->send(own_command("quit"));
    }
    if (kill_at_ && *kill_at_ <= deadline) return;
    kill_at_ = deadline;
    loop_.cancel_timer(kill_timer_);
    kill_timer_ = loop_.after(grace, [this] { kill_qemu(); });
}

void Keeper::kill_qemu() {
    ::syscall(SYS_pidfd_send_signal, qemu_.pidfd.get(), SIGKILL, nullptr, 0);
}

void Keeper::on_qemu_exit() {
    exit_watch_.reset();
    ExitRecord record;
    record.pid = qemu_.pid;
    record.status = wait_exit(qemu_);
    exit_ = record;  // from here on nothing is sent to QEMU
    network_.reset();
    if (qmp_stream_) qmp_stream_->drain();
    output_->drain();
    record.stderr_tail = output_->tail();
    record.requested = requested_;
    record.shutdown_reason = shutdown_reason_;
    record.ended_at_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(loop_.clock().wall().time_since_epoch())
            .count();
    exit_ = record;
    log::info("qemu.ended", {{"desktop", file_.id}, {"status", record.to_text()}, {"requested", requested_}});
    auto notice = to_json(record);
    if (auto written = write_file_atomic(exit_file(file_.desktop_folder), dump_json(notice) + "\n"); !written)
        log::error("exit_record.lost", {{"desktop", file_.id}, {"why", written.error().message}});
    remove_sockets();
    ::unlink(keeper_lock(file_.run_folder).c_str());
    if (daemon_) {
        notice["type"] = "exit";
        daemon_->send_control(notice);
    }
    finish_soon(loop_.clock().now() + kFarewell);
}

void Keeper::finish_soon(MonotonicTime deadline) {
    if (daemon_ && daemon_->queued() > 0 && loop_.clock().now() < deadline) {
        loop_.after(std::chrono::milliseconds{5}, [this, deadline] { finish_soon(deadline); });
        return;
    }
    listen_watch_.reset();
    listener_.reset();
    daemon_.reset();
    on_finished_();
}

void Keeper::remove_sockets() const {
    for (const auto& path : {file_.qmp_socket, file_.guest_socket, network_socket(file_.run_folder),
                             network_peer_socket(file_.run_folder), network_control_socket(file_.run_folder),
                             keeper_state(file_.run_folder), keeper_socket(file_.run_folder)})
        if (!path.empty()) ::unlink(path.c_str());
}

}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
// The side of the keeper that faces the daemon.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "hostd/base/log.h"
#include "vmm/json_fields.h"
#include "vmm/keeper.h"

namespace dormouse::vmm {

using nlohmann::json;

void Keeper::accept_daemons() {
    for (;;) {
        UniqueFd connection{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
        if (!connection) return;
        // The socket's mode says the same; a mode can be changed by mistake.
        ucred peer{};
        socklen_t length = sizeof peer;
        if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) continue;
        if (peer.uid != 0 && peer.uid != ::geteuid()) {
            log::warn("daemon.refused", {{"desktop", file_.id}, {"uid", peer.uid}, {"pid", peer.pid}});
            continue;
        }
        log::info("daemon.connected", {{"desktop", file_.id}, {"pid", peer.pid}});
        serve(std::move(connection));
    }
}

void Keeper::serve(UniqueFd connection) {
    if (daemon_) {
        daemon_->drain();  // what it has sent counts
        daemon_->send_control({{"type", "replaced"}});
    }
    // What the older one had for the guest and QEMU has not taken is half a
    // conversation; whole QMP lines go through.
    if (guest_stream_) guest_stream_->drop_queued();
    KeeperLink::Handlers handlers;
    handlers.on_qmp_line = [this](std::string line, UniqueFd fd) {
        on_daemon_line(std::move(line), std::move(fd));
    };
    handlers.on_line_dropped = [this] { refuse_line("the command is too long"); };
    handlers.on_guest = [this](std::string_view bytes) { on_daemon_guest(bytes); };
    handlers.on_control = [this](const json& message) { on_daemon_control(message); };
    handlers.on_sent = [this] { update_reading(); };
    handlers.on_closed = [this] {
        daemon_.reset();
        update_reading();
    };
    daemon_ = std::make_unique<KeeperLink>(loop_, std::move(connection), std::move(handlers));
    daemon_->send_control(to_json(hello()));
    for (const auto& line : std::exchange(kept_events_, {})) daemon_->send_qmp_line(line);
    kept_bytes_ = 0;
    update_reading();
}

KeeperHello Keeper::hello() const {
    KeeperHello hello;
    hello.protocol = kKeeperProtocol;
    hello.keeper_pid = ::getpid();
    hello.qemu_pid = qemu_.pid;
    hello.ready = ready_;
    hello.identity = file_.identity;
    hello.desktop_folder = file_.desktop_folder.string();
    hello.qemu_version = qemu_version_;
    return hello;
}

void Keeper::on_daemon_line(std::string line, UniqueFd fd) {
    if (!ready_ || !qmp_stream_) return refuse_line("QEMU's monitor is not connected");
    if (qmp_stream_->queued() + line.size() > kMaxQueuedForQemu ||
        qmp_stream_->queued_pieces() >= kMaxQueuedLines)
        return refuse_line("QEMU does not read from its monitor");
    line += '\n';
    qmp_stream_->send(std::move(line), std::move(fd));
}

// The daemon is not made to wait instead: it must get through to us when QEMU
// hangs, to have it killed.
void Keeper::refuse_line(std::string_view why) {
    if (daemon_) daemon_->send_control({{"type", "refused"}, {"message", why}});
}

void Keeper::on_daemon_guest(std::string_view bytes) {
    if (!guest_stream_) {
        daemon_->send_guest_credit(bytes.size());  // to nowhere, like an unplugged cable
        return;
    }
    if (guest_stream_->queued() + bytes.size() > 2 * kGuestWindow) {
        log::warn("daemon.overran_credit", {{"desktop", file_.id}});
        return;
    }
    guest_stream_->send(std::string{bytes});
}

void Keeper::on_daemon_control(const json& message) {
    const auto type = text_field(message, "type");
    if (type == "end") {
        const auto grace = std::max<std::int64_t>(0, int_field(message, "grace_ms"));
        end(std::chrono::milliseconds{grace});
    } else if (type == "network" && network_) {
        network_->set_config(field(message, "config"));
        if (bool_field(message, "restart")) network_->restart();
    } else if (type == "status") {
        daemon_->send_control({{"type", "status"},
                               {"ready", ready_},
                               {"queued_for_qemu", qmp_stream_ ? qmp_stream_->queued() : 0},
                               {"queued_for_guest", guest_stream_ ? guest_stream_->queued() : 0},
                               {"stderr", output_->tail()}});
    }
    // Others are of a newer daemon; its hello tells what we are.
}

}  // namespace dormouse::vmm

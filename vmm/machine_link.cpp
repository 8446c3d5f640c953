// SPDX-License-Identifier: Apache-2.0
// The machine's connection to its keeper: what comes in, and how it ends.
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "hostd/base/log.h"
#include "vmm/guest_channel.h"
#include "vmm/json_fields.h"
#include "vmm/keeper_link.h"
#include "vmm/keeper_stream.h"
#include "vmm/machine.h"
#include "vmm/qemu_command.h"

namespace dormouse::vmm {

using nlohmann::json;

namespace {

// Beyond this the guest has not read for long: what was said to it is void.
constexpr std::size_t kMaxGuestBacklog = 32 << 20;
// Events kept for a listener that is not set yet.
constexpr std::size_t kMaxUndelivered = 1000;

UniqueFd open_pidfd(pid_t pid) {
    return UniqueFd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
}

std::string last_lines(const ExitRecord& record, std::size_t count) {
    std::string text;
    const auto& lines = record.stderr_tail;
    for (std::size_t i = lines.size() > count ? lines.size() - count : 0; i < lines.size(); ++i)
        text += (text.empty() ? "" : "; ") + lines[i];
    return text;
}

}  // namespace

void Machine::attach(UniqueFd connection) {
    KeeperLink::Handlers handlers;
    handlers.on_qmp_line = [this](std::string line, UniqueFd) { qmp_->on_line(line); };
    handlers.on_guest = [this](std::string_view bytes) { guest_->on_bytes(bytes); };
    handlers.on_guest_credit = [this](std::size_t bytes) { on_guest_credit(bytes); };
    handlers.on_control = [this](const json& message) { on_control(message); };
    handlers.on_closed = [this] { on_link_closed(); };
    qmp_ = std::make_unique<QmpClient>(
        loop_, [this](std::string line, UniqueFd fd) { return send_qmp(std::move(line), std::move(fd)); },
        [this](std::string name, json data) { on_qmp_event(std::move(name), std::move(data)); });
    if (!guest_)
        guest_ = std::make_unique<GuestChannel>(loop_,
                                                [this](std::string bytes) { send_guest(std::move(bytes)); });
    guest_out_.clear();
    guest_in_flight_ = 0;
    has_hello_ = false;
    link_ = std::make_unique<KeeperLink>(loop_, std::move(connection), std::move(handlers));
}

void Machine::on_control(const json& message) {
    const auto type = text_field(message, "type");
    if (type == "hello" || type == "ready") {
        on_hello(message);
    } else if (type == "failed") {
        launch_error_ =
            Error{Errc::Unavailable, text_field(message, "message"), text_field(message, "hint"), 0};
        wake_waiting();
    } else if (type == "exit") {
        auto record = parse_exit_record(message);
        if (!record) return;
        announced_ = std::move(*record);
        qmp_->close(gone_error());
        guest_->disconnect();
        wake_waiting();
    } else if (type == "replaced") {
        replaced_ = true;
    } else if (type == "refused") {
        // Which command it was the keeper does not know: all that wait are void.
        const auto why = text_field(message, "message");
        log::warn("qmp.refused", {{"desktop", id_}, {"why", why}});
        qmp_->fail_pending(Error{Errc::Unavailable, why, {}, 0});
    }
}

void Machine::on_hello(const json& message) {
    auto hello = parse_hello(message);
    if (!hello) {
        launch_error_ = hello.error();
        wake_waiting();
        return;
    }
    const bool was_ready = has_hello_ && hello_.ready;
    hello_ = std::move(*hello);
    has_hello_ = true;
    watch_processes();
    if (hello_.ready && !was_ready) guest_->reset();
    wake_waiting();
}

void Machine::watch_processes() {
    if (keeper_pidfd_) return;
    keeper_pidfd_ = open_pidfd(hello_.keeper_pid);
    qemu_pidfd_ = open_pidfd(hello_.qemu_pid);
    // Gone since it wrote the hello: the end of the connection tells.
    if (!keeper_pidfd_) return;
    keeper_watch_ = loop_.watch(keeper_pidfd_.get(), POLLIN, [this](short) { on_keeper_gone(); });
}

void Machine::on_keeper_gone() {
    keeper_watch_.reset();
    if (link_) link_->drain();  // its last words
    if (announced_) return finish(*announced_);
    // The keeper was killed. QEMU is dying with it (PDEATHSIG); make sure.
    ExitRecord record;
    record.pid = hello_.qemu_pid;
    record.keeper_lost = true;
    record.ended_at_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(loop_.clock().wall().time_since_epoch())
            .count();
    announced_ = record;
    qmp_->close(gone_error());
    guest_->disconnect();
    if (!qemu_pidfd_) return finish(*announced_);
    ::syscall(SYS_pidfd_send_signal, qemu_pidfd_.get(), SIGKILL, nullptr, 0);
    qemu_watch_ = loop_.watch(qemu_pidfd_.get(), POLLIN, [this](short) {
        qemu_watch_.reset();
        finish(*announced_);
    });
}

void Machine::finish(ExitRecord record) {
    if (exit_) return;
    log::info("machine.ended",
              {{"desktop", id_}, {"status", record.to_text()}, {"requested", record.requested}});
    exit_ = std::move(record);
    link_.reset();
    // The keeper has done this, unless it was killed.
    for (const auto& path : {qmp_socket(run_folder_), agent_socket(run_folder_), network_socket(run_folder_),
                             network_peer_socket(run_folder_), network_control_socket(run_folder_),
                             keeper_state(run_folder_), keeper_socket(run_folder_), keeper_lock(run_folder_)})
        ::unlink(path.c_str());
    ::rmdir(run_folder_.c_str());  // when nothing else is in it
    wake_waiting();
    schedule_delivery();
}

void Machine::on_link_closed() {
    const Error lost{Errc::Interrupted, "the connection to the desktop's keeper was lost", {}, 0};
    if (announced_) {
        if (!keeper_pidfd_) finish(*announced_);  // it was gone before we could watch it
        return;                                   // else its pidfd will tell
    }
    qmp_->close(replaced_ ? Error{Errc::Unavailable, "another daemon took this desktop over", {}, 0} : lost);
    guest_->disconnect();
    if (!has_hello_ && !launch_error_) launch_error_ = lost;
    wake_waiting();
    if (replaced_ || disconnected_ || !has_hello_) return;
    if (!keeper_pidfd_) return on_keeper_gone();
    loop_.post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->reconnect();
    });
}

// The keeper lives and closed the connection all the same, or it is about to
// end: then nobody listens, and its pidfd will tell.
void Machine::reconnect() {
    if (announced_ || exit_ || disconnected_) return;
    auto connection = connect_unix(keeper_socket(run_folder_), SOCK_SEQPACKET);
    if (!connection) return;
    log::warn("keeper.reconnected", {{"desktop", id_}});
    attach(std::move(*connection));
}

void Machine::disconnect() {
    disconnected_ = true;
    if (qmp_) qmp_->close(Error{Errc::Interrupted, "the connection to the desktop was given up", {}, 0});
    if (guest_) guest_->disconnect();
    link_.reset();
    keeper_watch_.reset();
    qemu_watch_.reset();
    wake_waiting();
}

Result<> Machine::send_qmp(std::string line, UniqueFd fd) {
    if (!link_ || !link_->open() || !hello_.ready)
        return fail(Errc::Unavailable, "the desktop is not connected");
    if (!line.empty() && line.back() == '\n') line.pop_back();
    if (line.size() > kMaxQmpLine) return fail(Errc::TooLarge, "the command to QEMU is too long");
    link_->send_qmp_line(line, std::move(fd));
    return {};
}

void Machine::send_guest(std::string bytes) {
    if (guest_out_.size() + bytes.size() > kMaxGuestBacklog) {
        log::warn("guest.not_reading", {{"desktop", id_}});
        guest_out_.clear();
        loop_.post([weak = weak_from_this()] {
            if (const auto self = weak.lock(); self && !self->exit_) self->guest_->reset();
        });
        return;
    }
    guest_out_ += bytes;
    pump_guest();
}

void Machine::pump_guest() {
    if (!link_ || !link_->open()) return guest_out_.clear();
    const auto count = std::min(guest_out_.size(), kGuestWindow - std::min(guest_in_flight_, kGuestWindow));
    if (count == 0) return;
    link_->send_guest(std::string_view{guest_out_}.substr(0, count));
    guest_out_.erase(0, count);
    guest_in_flight_ += count;
}

void Machine::on_guest_credit(std::size_t bytes) {
    guest_in_flight_ -= std::min(bytes, guest_in_flight_);
    pump_guest();
}

void Machine::on_qmp_event(std::string name, json data) {
    if (name == "VSERPORT_CHANGE") {
        // What was sent to a closed port, and half of a message that the guest
        // had read before it closed it, are void.
        guest_out_.clear();
        if (bool_field(data, "open"))
            guest_->reset();
        else
            guest_->disconnect();
    }
    if (name == "MIGRATION" || name == "STOP" || name == "RESUME" || name == "SHUTDOWN") wake_waiting();
    if (undelivered_.size() >= kMaxUndelivered) undelivered_.pop_front();
    undelivered_.emplace_back(std::move(name), std::move(data));
    schedule_delivery();
}

void Machine::set_listener(Listener listener) {
    listener_ = std::move(listener);
    has_listener_ = true;
    schedule_delivery();
}

// Never from inside our own callbacks: the listener may drop the machine.
void Machine::schedule_delivery() {
    if (!has_listener_ || delivery_scheduled_ || disconnected_) return;
    delivery_scheduled_ = true;
    loop_.post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->deliver();
    });
}

void Machine::deliver() {
    delivery_scheduled_ = false;
    for (auto& [name, data] : std::exchange(undelivered_, {})) {
        // Copied: the listener may be replaced in the call.
        const auto on_event = listener_.on_event;
        if (on_event) on_event(std::move(name), std::move(data));
    }
    if (!exit_ || exit_delivered_) return;
    exit_delivered_ = true;
    const auto on_exit = listener_.on_exit;
    if (on_exit) on_exit(*exit_);
}

void Machine::wake_waiting() {
    for (auto& waiter : std::exchange(waiting_, {})) waiter.complete(true);
}

Error Machine::gone_error() const {
    const auto& record = exit_ ? exit_ : announced_;
    if (!record) return Error{Errc::Unavailable, "the desktop is not connected", {}, 0};
    const auto said = last_lines(*record, 3);
    auto message = fmt::format("QEMU ended ({})", record->to_text());
    if (!said.empty()) message += ": " + said;
    return Error{Errc::Unavailable, std::move(message), {}, 0};
}

}  // namespace dormouse::vmm

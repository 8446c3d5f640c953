// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/netd.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "hostd/base/log.h"
#include "hostd/base/random.h"
#include "vmm/net/host_addresses.h"
#include "vmm/qemu_command.h"

namespace dormouse::net {

namespace {

// A daemon that does not read is one that hangs: it is let go of.
constexpr std::size_t kMostQueuedForDaemon = 4 << 20;

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};

}  // namespace

Netd::Netd(EventLoop& loop, NetdConfig config)
    : loop_(loop),
      config_(std::move(config)),
      log_(loop.clock(), random_hex(8)),
      names_(loop.clock()),
      gate_(loop.clock(), outputs(), names_, log_) {}

Netd::~Netd() = default;

Gate::Outputs Netd::outputs() {
    return {.to_guest =
                [this](Bytes frame) {
                    if (frames_) frames_->send(frame);
                },
            .to_stack =
                [this](Bytes frame) {
                    if (stack_) stack_->input(frame);
                },
            .to_name_server =
                [this](std::string_view message, std::uint16_t port) {
                    name_server_->handle(message, [this, port](const std::string& answer) {
                        gate_.answer_name(answer, port);
                    });
                }};
}

Result<std::unique_ptr<Netd>> Netd::start(EventLoop& loop, NetdConfig config) {
    std::unique_ptr<Netd> netd{new Netd{loop, std::move(config)}};
    auto& self = *netd;
    DORMOUSE_TRY_ASSIGN(self.own_addresses_, host_addresses());
    DORMOUSE_TRY_ASSIGN(
        self.stack_, SlirpStack::make(loop, [&self](MutableBytes frame) { self.gate_.from_stack(frame); }));
    DORMOUSE_TRY_ASSIGN(self.resolver_, make_dns_resolver(loop, self.config_.dns));
    self.name_server_ = std::make_unique<NameServer>(loop.clock(), *self.resolver_, self.names_, self.log_);
    self.apply(self.config_.policy);
    DORMOUSE_TRY(self.open_sockets());
    self.keep_house();
    log::info("netd.ready", {{"desktop", self.config_.id}, {"mode", mode_name(self.settings_.mode)}});
    return netd;
}

Result<> Netd::open_sockets() {
    const auto& folder = config_.run_folder;
    DORMOUSE_TRY_ASSIGN(listener_, vmm::listen_unix(vmm::network_control_socket(folder), SOCK_STREAM));
    listen_watch_ = loop_.watch(listener_.get(), POLLIN, [this](short) { accept_control(); });
    DORMOUSE_TRY_ASSIGN(
        frames_, FrameSocket::open(
                     loop_, vmm::network_peer_socket(folder), vmm::network_socket(folder),
                     [this](MutableBytes frame) { gate_.from_guest(frame); }, [this] { ended_ = true; }));
    return {};
}

void Netd::run() {
    while (!ended_) {
        const auto wait = stack_->before_wait();
        loop_.run_once(wait);
        stack_->after_wait();
    }
}

std::size_t Netd::apply(PolicySettings settings) {
    settings_ = std::move(settings);
    const auto ended = gate_.set_policy(Policy{settings_, own_addresses_});
    name_server_->set_policy(gate_.policy());
    return ended;
}

// ---- the daemon

void Netd::accept_control() {
    for (;;) {
        UniqueFd connection{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
        if (!connection) return;
        ucred peer{};
        socklen_t length = sizeof peer;
        if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) continue;
        if (peer.uid != 0 && peer.uid != ::geteuid()) continue;
        serve(std::move(connection));
    }
}

void Netd::serve(UniqueFd connection) {
    const auto number = ++control_number_;
    flush_.reset();
    lines_.emplace(kLongestControlLine);
    vmm::ByteStream::Handlers handlers;
    handlers.on_bytes = [this, number](std::string_view bytes) {
        if (number != control_number_) return;
        lines_->feed(bytes);
        while (const auto line = lines_->next()) {
            const auto message = parse_to_netd(*line);
            if (message)
                on_control(*message);
            else
                log::warn("netd.not_understood", {{"why", message.error().message}});
        }
    };
    handlers.on_closed = [this, number] {
        if (number == control_number_) control_.reset();
    };
    control_ = std::make_unique<vmm::ByteStream>(loop_, std::move(connection), std::move(handlers));
    send_report();
}

void Netd::on_control(const ToNetd& message) {
    std::visit(Overloaded{
                   [this](const SetPolicy& one) {
                       const auto ended = apply(one.policy);
                       log::info(
                           "netd.policy",
                           {{"desktop", config_.id}, {"mode", mode_name(one.policy.mode)}, {"ended", ended}});
                       say(PolicySet{one.policy.mode, static_cast<std::int64_t>(ended)});
                   },
                   [this](const Flush& one) {
                       flush_ = one.number;
                       send_report();
                   },
                   [this](const Acknowledge& one) {
                       log_.acknowledge(one.sequence);
                       // Else when it is time: each report is a write to the daemon's disk.
                       if (flush_ || log_.full()) send_pending();
                   },
               },
               message);
}

void Netd::say(const FromNetd& message) {
    if (!control_) return;
    if (control_->queued() > kMostQueuedForDaemon) {
        // Not from inside its own call.
        loop_.post([this, number = control_number_] {
            if (number == control_number_) control_.reset();
        });
        return;
    }
    control_->send(to_line(message));
}

void Netd::send_report() {
    gate_.count_traffic();
    send_pending();
}

void Netd::send_pending() {
    if (!control_) return;
    if (auto report = log_.report())
        say(std::move(*report));
    else if (flush_)
        say(Flushed{*std::exchange(flush_, std::nullopt)});
}

void Netd::keep_house() {
    gate_.expire();
    // What the daemon has not acknowledged comes again; it counts it once.
    send_report();
    // Interfaces come and go: VPNs, containers.
    if (auto now = host_addresses(); now && *now != own_addresses_) {
        own_addresses_ = std::move(*now);
        apply(settings_);
    }
    loop_.after(kHousekeeping, [this] { keep_house(); });
}

}  // namespace dormouse::net

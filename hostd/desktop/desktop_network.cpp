// SPDX-License-Identifier: Apache-2.0
// The desktop's network: the part of Desktop that speaks with its network process.
#include <utility>

#include "hostd/base/log.h"
#include "hostd/desktop/desktop.h"

namespace dormouse::desktop {

using namespace std::chrono_literals;

namespace {

// The process answers within milliseconds. One that hangs is replaced.
constexpr auto kConfirmTimeout = 2s;
constexpr auto kReplacedTimeout = 5s;
constexpr auto kFlushTimeout = 1s;

db::DestinationRow to_row(const net::DestinationRow& row) {
    const auto& contact = row.contact;
    return {.name = contact.name,
            .address = contact.address == net::Address{} ? std::string{} : net::to_text(contact.address),
            .port = contact.port,
            .protocol = std::string{net::protocol_name(contact.protocol)},
            .verdict = contact.allowed ? "allowed" : "refused",
            .reason = row.reason,
            .first_at = row.first_at,
            .last_at = row.last_at,
            .connections = row.counts.connections,
            .bytes_sent = row.counts.sent,
            .bytes_received = row.counts.received};
}

db::DestinationReport to_report(const net::Report& report) {
    db::DestinationReport out{.reporter = report.reporter, .sequence = report.sequence, .rows = {}};
    for (const auto& row : report.rows) out.rows.push_back(to_row(row));
    return out;
}

Task<void> store_report(Desktop::SaveDestinations save, db::DestinationReport report, std::string id,
                        std::function<void()> done) {
    const auto saved = co_await save(std::move(report));
    if (saved) {
        done();
        co_return;
    }
    log::error("destinations.lost", {{"desktop", id}, {"why", saved.error().message}});
}

}  // namespace

net::Mode Desktop::network_mode() const {
    // What cannot be read reaches nothing.
    const auto mode = net::parse_mode(row_.network);
    return mode ? *mode : net::Mode::None;
}

void Desktop::open_network() {
    close_network();
    auto on_report = [save = save_destinations_, id = row_.id.str()](const net::Report& report,
                                                                     std::function<void()> done) {
        spawn(store_report(save, to_report(report), id, std::move(done)));
    };
    network_ = net::NetdLink::open(host_.loop, row_.id.str(), host_.run_folder(row_.id.str()),
                                   network_policy(host_, network_mode()), std::move(on_report));
    // A process that the keeper starts later must not begin with what held before
    // this daemon: its configuration may have changed.
    machine_->keep_netd_config(netd_config(host_, row_.id.str(), network_mode()),
                               vmm::Machine::NetdStart::WhenItEnds);
}

void Desktop::close_network() {
    if (network_) network_->close();
    network_.reset();
}

Task<Result<>> Desktop::set_network(net::Mode mode) {
    const auto self = shared_from_this();
    const auto before = row_.network;
    row_.network = net::mode_name(mode);
    auto saved = co_await save_(row_);
    if (!saved) {
        row_.network = before;
        co_return saved;
    }
    if (row_.network != before) tell(DesktopChange::Details);
    const auto machine = machine_;
    const auto network = network_;
    if (!machine || !machine->alive() || !network) co_return Result<>{};
    // First what the next process begins with, then the one that runs: whatever
    // ends in between, the new policy holds.
    auto config = netd_config(host_, row_.id.str(), mode);
    machine->keep_netd_config(config, vmm::Machine::NetdStart::WhenItEnds);
    auto applied = co_await network->apply(network_policy(host_, mode), kConfirmTimeout);
    if (applied || !machine->alive()) co_return Result<>{};
    log::warn("netd.replaced", {{"desktop", row_.id.str()}, {"why", applied.error().message}});
    machine->keep_netd_config(std::move(config), vmm::Machine::NetdStart::Now);
    applied = co_await network->apply(network_policy(host_, mode), kReplacedTimeout);
    if (applied || !machine->alive()) co_return Result<>{};
    co_return fail_in("the new mode is remembered but perhaps not in force", applied.error());
}

Task<void> Desktop::collect_destinations() {
    const auto self = shared_from_this();
    if (const auto network = network_) co_await network->flush(kFlushTimeout);
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// What the service answers about networks.
#include "hostd/desktop/service.h"

namespace dormouse::desktop {

namespace {

std::optional<std::string> unless_empty(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional{text};
}

DestinationInfo to_info(const db::DestinationRow& row) {
    return {.name = unless_empty(row.name),
            .address = unless_empty(row.address),
            .port = row.port,
            .protocol = row.protocol,
            .verdict = row.verdict,
            .reason = row.reason,
            .first_at = row.first_at,
            .last_at = row.last_at,
            .connections = row.connections,
            .bytes_sent = row.bytes_sent,
            .bytes_received = row.bytes_received};
}

}  // namespace

Task<Result<Answer>> Service::run(ListDestinations, Asked asked) {
    co_await asked.desktop->collect_destinations();
    auto reading =
        on_store([&stores = stores_, id = asked.desktop->id()] { return stores.destinations.list(id); });
    DORMOUSE_CO_TRY_ASSIGN(const auto rows, co_await std::move(reading));
    std::vector<DestinationInfo> all;
    all.reserve(rows.size());
    for (const auto& row : rows) all.push_back(to_info(row));
    co_return Answer{std::move(all)};
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/translate.h"

namespace dormouse::api {

schema::Event to_schema(const desktop::Event& event) {
    schema::Event out;
    out.id = event.id;
    out.type = desktop::event_type_name(event.type);
    out.at = event.at;
    if (event.desktop) out.desktop = to_schema(*event.desktop);
    if (event.operation) out.operation = to_schema(*event.operation);
    if (event.image) out.image = event.image->str();
    return out;
}

schema::AuditPage to_schema(const desktop::AuditPage& page) {
    schema::AuditPage out;
    for (const auto& entry : page.entries) {
        schema::AuditEntry one{.number = static_cast<std::uint64_t>(entry.number),
                               .at = entry.at,
                               .token = {},
                               .desktop = entry.desktop,
                               .command = entry.command,
                               .outcome = entry.outcome,
                               .detail = entry.detail,
                               .took = entry.took,
                               .count = entry.count,
                               .last_at = entry.last_at};
        if (!entry.token.empty()) one.token = entry.token;
        out.entries.push_back(std::move(one));
    }
    out.next_cursor = page.next_cursor;
    return out;
}

}  // namespace dormouse::api

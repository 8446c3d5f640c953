// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/audit.h"

#include <climits>

#include "hostd/schema/reader.h"
#include "hostd/schema/time.h"

namespace dormouse::schema {

namespace {

Json encode(const AuditEntry& entry) {
    const auto maybe = [](const std::optional<std::string>& text) { return text ? Json(*text) : Json(); };
    return {{"number", entry.number},      {"at", format_time(entry.at)},
            {"token", maybe(entry.token)}, {"desktop", maybe(entry.desktop)},
            {"command", entry.command},    {"outcome", entry.outcome},
            {"detail", entry.detail},      {"took_ms", entry.took.count()},
            {"count", entry.count},        {"last_at", format_time(entry.last_at)}};
}

AuditEntry decode_entry(ObjectReader& in) {
    AuditEntry entry;
    entry.number = static_cast<std::uint64_t>(in.whole("number", {0, INT64_MAX}));
    entry.at = in.time("at");
    entry.token = in.optional_text("token");
    entry.desktop = in.optional_text("desktop");
    entry.command = in.text("command");
    entry.outcome = in.text("outcome");
    entry.detail = in.text("detail");
    entry.took = std::chrono::milliseconds{in.whole("took_ms", {INT64_MIN, INT64_MAX})};
    entry.count = in.whole("count", {0, INT64_MAX});
    entry.last_at = in.time("last_at");
    return entry;
}

}  // namespace

std::string to_json(const AuditEntry& entry) {
    return write_json(encode(entry));
}

std::string to_json(const AuditPage& page) {
    auto entries = Json::array();
    for (const auto& entry : page.entries) entries.push_back(encode(entry));
    return write_json({{"entries", std::move(entries)},
                       {"next_cursor", page.next_cursor ? Json(*page.next_cursor) : Json()}});
}

template <>
Result<AuditPage> parse<AuditPage>(std::string_view text) {
    return read_answer<AuditPage>(text, [](ObjectReader& in) {
        AuditPage page;
        in.list("entries", {0, INT_MAX}, [&](const Json& item, std::string path) {
            ObjectReader entry{item, std::move(path), in.problem()};
            page.entries.push_back(decode_entry(entry));
        });
        page.next_cursor = in.optional_text("next_cursor");
        return page;
    });
}

}  // namespace dormouse::schema

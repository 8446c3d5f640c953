// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/control_protocol.h"

#include <algorithm>

#include "vmm/json_fields.h"

namespace dormouse::net {

using nlohmann::json;
using vmm::bool_field;
using vmm::dump_json;
using vmm::field;
using vmm::int_field;
using vmm::text_field;

namespace {

constexpr std::size_t kLongestText = 255;
constexpr std::size_t kMostExceptions = 1000;
// 2^53: numbers up to there are the same in every JSON reader.
constexpr std::int64_t kMostCount = std::int64_t{1} << 53;

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};

json to_json(const PolicySettings& policy) {
    json allow = json::array();
    for (const auto& one : policy.allow) allow.push_back(to_text(one));
    return {{"mode", mode_name(policy.mode)}, {"allow", std::move(allow)}};
}

Result<PolicySettings> parse_policy(const json& value) {
    PolicySettings policy;
    DORMOUSE_TRY_ASSIGN(policy.mode, parse_mode(text_field(value, "mode")));
    const auto& allow = field(value, "allow");
    if (!allow.is_array() || allow.size() > kMostExceptions)
        return fail(Errc::Corrupt, "the policy's exceptions are not a list");
    for (const auto& one : allow) {
        if (!one.is_string()) return fail(Errc::Corrupt, "an exception of the policy is not a text");
        DORMOUSE_TRY_ASSIGN(const auto exception, parse_exception(one.get<std::string>()));
        policy.allow.push_back(exception);
    }
    return policy;
}

std::int64_t milliseconds(WallTime time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

json to_json(const DestinationRow& row) {
    const bool has_address = row.contact.address != Address{};
    return {{"name", row.contact.name},
            {"address", has_address ? to_text(row.contact.address) : ""},
            {"port", row.contact.port},
            {"protocol", protocol_name(row.contact.protocol)},
            {"allowed", row.contact.allowed},
            {"reason", row.reason},
            {"first_ms", milliseconds(row.first_at)},
            {"last_ms", milliseconds(row.last_at)},
            {"connections", row.counts.connections},
            {"sent", row.counts.sent},
            {"received", row.counts.received}};
}

std::string line_of(json value, const char* type) {
    value["type"] = type;
    return dump_json(value) + "\n";
}

// A number within bounds, or nothing.
std::optional<std::int64_t> count_field(const json& value, const char* key) {
    const auto& number = field(value, key);
    if (!number.is_number_integer()) return std::nullopt;
    const auto count = number.get<std::int64_t>();
    if (count < 0 || count > kMostCount) return std::nullopt;
    return count;
}

bool is_printable(std::string_view text) {
    return text.size() <= kLongestText &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Result<DestinationRow> parse_row(const json& value) {
    const auto bad = [] { return fail(Errc::Corrupt, "a row of destinations that is none"); };
    DestinationRow row;
    row.contact.name = text_field(value, "name");
    row.reason = text_field(value, "reason");
    const auto address_text = text_field(value, "address");
    const auto address = address_text.empty() ? Address{} : parse_address(address_text);
    const auto port = count_field(value, "port");
    const auto protocol = parse_protocol(text_field(value, "protocol"));
    const auto first = count_field(value, "first_ms");
    const auto last = count_field(value, "last_ms");
    const auto connections = count_field(value, "connections");
    const auto sent = count_field(value, "sent");
    const auto received = count_field(value, "received");
    if (!is_printable(row.contact.name) || !is_printable(row.reason) || !address || !port || *port > 65535 ||
        !protocol || !first || !last || !connections || !sent || !received)
        return bad();
    // What is neither a name nor an address is no destination.
    if (row.contact.name.empty() && *address == Address{}) return bad();
    // The clock's range in nanoseconds ends in the year 2262.
    constexpr std::int64_t kLatest = 9'000'000'000'000;
    if (*first > kLatest || *last > kLatest) return bad();
    row.contact.address = *address;
    row.contact.port = static_cast<std::uint16_t>(*port);
    row.contact.protocol = *protocol;
    row.contact.allowed = bool_field(value, "allowed");
    row.first_at = WallTime{std::chrono::milliseconds{*first}};
    row.last_at = WallTime{std::chrono::milliseconds{*last}};
    row.counts = {*connections, *sent, *received};
    return row;
}

Result<FromNetd> parse_report(const json& value) {
    Report report;
    report.reporter = text_field(value, "reporter");
    const auto sequence = count_field(value, "sequence");
    const auto& rows = field(value, "rows");
    if (report.reporter.empty() || !is_printable(report.reporter) || !sequence || !rows.is_array() ||
        rows.size() > DestinationLog::kRowsInReport)
        return fail(Errc::Corrupt, "a report of destinations that is none");
    report.sequence = *sequence;
    for (const auto& one : rows) {
        DORMOUSE_TRY_ASSIGN(auto row, parse_row(one));
        report.rows.push_back(std::move(row));
    }
    return FromNetd{std::move(report)};
}

}  // namespace

std::string to_json(const NetdConfig& config) {
    return dump_json({{"id", config.id},
                      {"run_folder", config.run_folder.string()},
                      {"policy", to_json(config.policy)},
                      {"dns", config.dns}});
}

Result<NetdConfig> parse_netd_config(std::string_view text) {
    const auto value = vmm::parse_json(text);
    if (!value.is_object()) return fail(Errc::Corrupt, "the configuration is not a JSON object");
    NetdConfig config;
    config.id = text_field(value, "id");
    config.run_folder = text_field(value, "run_folder");
    config.dns = text_field(value, "dns");
    DORMOUSE_TRY_ASSIGN(config.policy, parse_policy(field(value, "policy")));
    if (!config.run_folder.is_absolute())
        return fail(Errc::Corrupt, "the configuration has no absolute run_folder");
    return config;
}

std::string to_line(const ToNetd& message) {
    return std::visit(Overloaded{
                          [](const SetPolicy& one) { return line_of(to_json(one.policy), "set_policy"); },
                          [](const Flush& one) {
                              return line_of({{"number", one.number}}, "flush");
                          },
                          [](const Acknowledge& one) {
                              return line_of({{"sequence", one.sequence}}, "acknowledge");
                          },
                      },
                      message);
}

Result<ToNetd> parse_to_netd(std::string_view line) {
    const auto value = vmm::parse_json(line);
    const auto type = text_field(value, "type");
    if (type == "set_policy") {
        DORMOUSE_TRY_ASSIGN(auto policy, parse_policy(value));
        return ToNetd{SetPolicy{std::move(policy)}};
    }
    if (type == "flush") return ToNetd{Flush{int_field(value, "number")}};
    if (type == "acknowledge") return ToNetd{Acknowledge{int_field(value, "sequence")}};
    return fail(Errc::InvalidArgument, "a message of an unknown type");
}

std::string to_line(const FromNetd& message) {
    return std::visit(
        Overloaded{
            [](const PolicySet& one) {
                return line_of({{"mode", mode_name(one.mode)}, {"ended", one.ended}}, "policy_set");
            },
            [](const Flushed& one) {
                return line_of({{"number", one.number}}, "flushed");
            },
            [](const Report& report) {
                json rows = json::array();
                for (const auto& row : report.rows) rows.push_back(to_json(row));
                return line_of(
                    {{"reporter", report.reporter}, {"sequence", report.sequence}, {"rows", std::move(rows)}},
                    "destinations");
            },
        },
        message);
}

Result<FromNetd> parse_from_netd(std::string_view line) {
    const auto value = vmm::parse_json(line);
    const auto type = text_field(value, "type");
    if (type == "policy_set") {
        DORMOUSE_TRY_ASSIGN(const auto mode, parse_mode(text_field(value, "mode")));
        return FromNetd{PolicySet{mode, int_field(value, "ended")}};
    }
    if (type == "flushed") return FromNetd{Flushed{int_field(value, "number")}};
    if (type == "destinations") return parse_report(value);
    return fail(Errc::InvalidArgument, "a message of an unknown type");
}

}  // namespace dormouse::net

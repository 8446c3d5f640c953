// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/network.h"

#include <climits>
#include <utility>

#include "hostd/schema/time.h"

namespace dormouse::schema {

namespace {

constexpr Range kPort{0, 65535};
constexpr Range kCount{0, INT64_MAX};

Json text_or_null(const std::optional<std::string>& text) {
    return text ? Json(*text) : Json();
}

Json encode_entry(const DestinationEntry& entry) {
    Json json;
    json["name"] = text_or_null(entry.name);
    json["address"] = text_or_null(entry.address);
    json["port"] = entry.port;
    json["protocol"] = entry.protocol;
    json["verdict"] = entry.verdict;
    json["reason"] = entry.reason;
    json["first_at"] = format_time(entry.first_at);
    json["last_at"] = format_time(entry.last_at);
    json["connections"] = entry.connections;
    json["bytes_sent"] = entry.bytes_sent;
    json["bytes_received"] = entry.bytes_received;
    return json;
}

DestinationEntry decode_entry(ObjectReader& in) {
    DestinationEntry entry;
    entry.name = in.optional_text("name");
    entry.address = in.optional_text("address");
    entry.port = static_cast<int>(in.whole("port", kPort));
    entry.protocol = in.text("protocol");
    entry.verdict = in.text("verdict");
    entry.reason = in.text("reason");
    entry.first_at = in.time("first_at");
    entry.last_at = in.time("last_at");
    entry.connections = in.whole("connections", kCount);
    entry.bytes_sent = in.whole("bytes_sent", kCount);
    entry.bytes_received = in.whole("bytes_received", kCount);
    return entry;
}

}  // namespace

Json encode(const Network& network) {
    return {{"mode", network.mode}};
}

Network decode_network(ObjectReader& in) {
    // A newer server may know more modes; a request may not.
    if (in.strictness() == Strictness::Answer) return {in.text("mode")};
    return {in.word("mode", {"open", "none"})};
}

std::string to_json(const DestinationList& list) {
    auto all = Json::array();
    for (const auto& entry : list.destinations) all.push_back(encode_entry(entry));
    return write_json({{"destinations", std::move(all)}});
}

template <>
Result<DestinationList> parse<DestinationList>(std::string_view text) {
    return read_answer<DestinationList>(text, [](ObjectReader& in) {
        DestinationList list;
        in.list("destinations", {0, INT_MAX}, [&](const Json& item, std::string path) {
            ObjectReader entry{item, std::move(path), in.problem()};
            list.destinations.push_back(decode_entry(entry));
        });
        return list;
    });
}

}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/events.h"

#include "hostd/schema/desktop_json.h"
#include "hostd/schema/operation_json.h"
#include "hostd/schema/time.h"

namespace dormouse::schema {

std::string to_json(const Event& event) {
    Json json{{"id", event.id}, {"type", event.type}, {"at", format_time(event.at)}};
    if (event.desktop) json["desktop"] = encode(*event.desktop);
    if (event.operation) json["operation"] = encode(*event.operation);
    if (event.image) json["template"] = *event.image;
    return write_json(json);
}

template <>
Result<Event> parse<Event>(std::string_view text) {
    return read_answer<Event>(text, [](ObjectReader& in) {
        Event event;
        event.id = static_cast<std::uint64_t>(in.whole("id", {0, INT64_MAX}));
        event.type = in.text("type");
        event.at = in.time("at");
        in.optional_object("desktop", [&](ObjectReader& one) { event.desktop = decode_desktop(one); });
        in.optional_object("operation", [&](ObjectReader& one) { event.operation = decode_operation(one); });
        event.image = in.optional_text("template");
        return event;
    });
}

}  // namespace dormouse::schema

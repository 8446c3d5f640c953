// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hostd/base/clock.h"
#include "hostd/schema/codec.h"
#include "hostd/schema/desktops.h"
#include "hostd/schema/operations.h"

namespace dormouse::schema {

// What the "data" of a server-sent event holds.
struct Event {
    std::uint64_t id = 0;
    std::string type;  // "desktop.state"; the "event" of the server-sent event
    WallTime at;
    std::optional<Desktop> desktop;
    std::optional<Operation> operation;
    std::optional<std::string> image;  // "template" in JSON: its name
};

std::string to_json(const Event& event);  // one line

template <>
Result<Event> parse<Event>(std::string_view text);

}  // namespace dormouse::schema

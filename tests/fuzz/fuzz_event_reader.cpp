// SPDX-License-Identifier: Apache-2.0
// A stream of server-sent events from whoever answers: however it is cut, the
// same events come out, and never more than the limit is held.
#include <cstdint>
#include <string_view>
#include <vector>

#include "hostd/base/check.h"
#include "hostd/client/event_reader.h"
#include "hostd/schema/events.h"

namespace {

using namespace dormouse::client;

std::vector<std::string> read(std::string_view bytes, std::size_t step) {
    EventReader reader{1000};
    std::vector<std::string> events;
    while (!bytes.empty()) {
        const auto part = bytes.substr(0, step);
        bytes.remove_prefix(part.size());
        const auto done = reader.feed(part, [&](const ServerSentEvent& event) {
            DORMOUSE_CHECK(event.data.size() <= 2000);
            (void)dormouse::schema::parse<dormouse::schema::Event>(event.data);
            events.push_back(event.id + '\x1f' + event.type + '\x1f' + event.data);
            return true;
        });
        if (!done) break;
    }
    return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    DORMOUSE_CHECK(read(bytes, 1) == read(bytes, 7));
    return 0;
}

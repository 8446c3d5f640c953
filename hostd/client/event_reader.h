// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "hostd/base/result.h"

namespace dormouse::client {

// One server-sent event, as it stood in the stream.
struct ServerSentEvent {
    std::string id;    // the last one that was sent
    std::string type;  // "message" when none was given
    std::string data;
};

// Takes a text/event-stream apart, as HTML's standard has it. A plain value; holds
// at most `limit` bytes.
class EventReader {
  public:
    explicit EventReader(std::size_t limit = 16 << 20) : limit_(limit) {}

    // Calls `take` with each event that is whole; false from it ends the call.
    // Errc::Corrupt when an event grows past the limit.
    Result<> feed(std::string_view bytes, const std::function<bool(const ServerSentEvent&)>& take);

  private:
    bool take_line(const std::function<bool(const ServerSentEvent&)>& take);

    std::size_t limit_;
    std::string line_;
    bool after_cr_ = false;
    bool at_start_ = true;
    std::string id_;
    std::string type_;
    std::optional<std::string> data_;
};

}  // namespace dormouse::client

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hostd/base/config.h"
#include "hostd/base/event_loop.h"
#include "hostd/desktop/gateway.h"
#include "hostd/wsio/body_stream.h"
#include "hostd/wsio/http_message.h"

namespace dormouse::api {

// Of one stream; what is beyond ends it. A client that takes nothing of it is
// disconnected after HttpLimits::write_pause. All of the event log fits.
inline constexpr std::size_t kMostWaitingBytes = 16 << 20;
inline constexpr std::chrono::seconds kKeepAlive{15};

// One server-sent event.
std::string to_server_sent_event(const desktop::Event& event);

// Which event a client has seen last: Last-Event-ID, which a browser sends when
// it connects again, before `after` of the query.
Result<std::optional<std::uint64_t>> last_seen_event(const wsio::HttpRequest& request);

// The clients of GET /v1/events. Core thread; destroy it there, once all streams
// are closed.
class EventStreams {
  public:
    // `opened` and `closed` are told of each stream.
    EventStreams(EventLoop& loop, desktop::Gateway& gateway, const LimitsConfig& limits,
                 std::function<void()> opened, std::function<void()> closed);
    ~EventStreams();
    EventStreams(const EventStreams&) = delete;
    EventStreams& operator=(const EventStreams&) = delete;

    // The answer to one request: a stream, until the client goes, the token does,
    // or the client is too slow. Errc::Unavailable when there are too many,
    // Errc::RateLimited when this token has too many.
    Result<wsio::HttpResponse> open(const desktop::Caller& caller, const wsio::HttpRequest& request);

  private:
    struct Stream {
        std::string token;
        std::optional<WallTime> expires_at;
        std::shared_ptr<wsio::BodyStream> body;
        std::unique_ptr<desktop::EventWatch> watch;
    };
    void write(std::uint64_t id, std::string_view text);
    void end(std::uint64_t id, std::string_view last);
    void keep_alive();

    EventLoop& loop_;
    desktop::Gateway& gateway_;
    const LimitsConfig limits_;
    const std::function<void()> opened_;
    const std::function<void()> closed_;
    std::map<std::uint64_t, Stream> streams_;
    std::uint64_t next_ = 1;
    EventLoop::TimerId timer_ = 0;
    const std::shared_ptr<EventStreams*> self_;  // null once this is gone
};

}  // namespace dormouse::api

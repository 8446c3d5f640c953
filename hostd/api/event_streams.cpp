// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/event_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hostd/api/query.h"
#include "hostd/api/translate.h"
#include "hostd/schema/schema.h"

namespace dormouse::api {

namespace {

constexpr std::int64_t kLargestId = (std::int64_t{1} << 53) - 1;

}  // namespace

std::string to_server_sent_event(const desktop::Event& event) {
    // The JSON has no line break, so it is one line of data.
    return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.id, desktop::event_type_name(event.type),
                       schema::to_json(to_schema(event)));
}

Result<std::optional<std::uint64_t>> last_seen_event(const wsio::HttpRequest& request) {
    QueryReader query{request};
    const auto after = query.whole("after", 0, kLargestId);
    DORMOUSE_TRY(query.finish());
    std::optional<std::uint64_t> seen;
    if (after) seen = static_cast<std::uint64_t>(*after);
    const auto header = wsio::find_header(request.headers, "last-event-id");
    if (header.empty()) return seen;
    std::uint64_t id = 0;
    const auto* const last = header.data() + header.size();
    const auto [stop, error] = std::from_chars(header.data(), last, id);
    if (error != std::errc{} || stop != last || id > static_cast<std::uint64_t>(kLargestId))
        return fail(Errc::InvalidArgument, "Last-Event-ID: not the id of an event",
                    "send the id of the last event that you have seen, or leave it out");
    return std::optional{id};
}

EventStreams::EventStreams(EventLoop& loop, desktop::Gateway& gateway, const LimitsConfig& limits,
                           std::function<void()> opened, std::function<void()> closed)
    : loop_(loop),
      gateway_(gateway),
      limits_(limits),
      opened_(std::move(opened)),
      closed_(std::move(closed)),
      self_(std::make_shared<EventStreams*>(this)) {}

EventStreams::~EventStreams() {
    *self_ = nullptr;
    if (timer_ != 0) loop_.cancel_timer(timer_);
}

Result<wsio::HttpResponse> EventStreams::open(const desktop::Caller& caller,
                                              const wsio::HttpRequest& request) {
    DORMOUSE_TRY_ASSIGN(const auto after, last_seen_event(request));
    wsio::HttpResponse response{
        .status = 200,
        .headers = {{"Content-Type", "text/event-stream"}, {"X-Accel-Buffering", "no"}},
        .body = {},
        .stream = {}};
    if (request.method == "HEAD") return response;
    if (streams_.size() >= static_cast<std::size_t>(limits_.event_streams))
        return fail(Errc::Unavailable, "there are too many event streams", "close one that nobody reads");
    const auto own = std::count_if(streams_.begin(), streams_.end(),
                                   [&](const auto& entry) { return entry.second.token == caller.token; });
    if (own >= limits_.event_streams_per_token)
        return fail(Errc::RateLimited, fmt::format("this token has {} event streams already", own),
                    "close one that nobody reads");

    const auto id = next_++;
    auto body = std::make_shared<wsio::BodyStream>(kMostWaitingBytes);
    streams_.emplace(id, Stream{caller.token, caller.expires_at, body, nullptr});
    opened_();
    // A browser that lost its connection waits two seconds before it comes back.
    write(id, "retry: 2000\n\n");
    auto watch = gateway_.watch_events(
        caller, after,
        {.event = [this, id](const desktop::Event& event) { write(id, to_server_sent_event(event)); },
         .end = [this, id] { end(id, ": this token is not known any more\n\n"); }});
    if (!watch) {
        streams_.erase(id);
        closed_();
        return fail(watch.error());
    }
    if (const auto found = streams_.find(id); found != streams_.end())
        found->second.watch = std::move(*watch);
    body->on_closed([&loop = loop_, self = self_, id] {
        loop.post([self, id] {
            if (*self) (*self)->end(id, {});
        });
    });
    if (timer_ == 0) timer_ = loop_.after(kKeepAlive, [this] { keep_alive(); });
    response.stream = std::move(body);
    return response;
}

void EventStreams::write(std::uint64_t id, std::string_view text) {
    const auto found = streams_.find(id);
    if (found == streams_.end() || found->second.body->write(text)) return;
    end(id, ": too slow: what happens is not told any more\n\n");
}

// Once for each stream, however it came to its end.
void EventStreams::end(std::uint64_t id, std::string_view last) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    const auto stream = std::move(found->second);
    streams_.erase(found);
    stream.body->end(last);
    closed_();
}

void EventStreams::keep_alive() {
    timer_ = 0;
    const auto now = loop_.clock().wall();
    std::vector<std::uint64_t> all;
    for (const auto& [id, stream] : streams_) all.push_back(id);
    for (const auto id : all) {
        const auto found = streams_.find(id);
        if (found == streams_.end()) continue;
        if (found->second.expires_at && *found->second.expires_at <= now) {
            end(id, ": this token has expired\n\n");
        } else {
            write(id, ": keep-alive\n\n");
        }
    }
    if (!streams_.empty()) timer_ = loop_.after(kKeepAlive, [this] { keep_alive(); });
}

}  // namespace dormouse::api

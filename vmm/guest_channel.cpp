// SPDX-License-Identifier: Apache-2.0
#include "vmm/guest_channel.h"

#include <algorithm>

#include "hostd/base/log.h"
#include "hostd/base/random.h"

namespace dormouse::vmm {

namespace {

using guest::HelloInfo;
using nlohmann::json;

// Hellos pile up in the port while the guest boots. An acknowledgement of one
// as old as this means that the guest has set its clock wrong by as much.
constexpr auto kStaleHello = std::chrono::seconds{5};
constexpr std::size_t kRememberedHellos = 64;

// Free functions, so that the coroutine holds nothing of the channel.
template <class T>
Task<T> await_value(Completion<T> completion) {
    co_return co_await completion;
}

std::uint32_t fresh_session(std::uint32_t before) {
    for (;;) {
        const auto session = guest::read_u32(random_bytes(4), 0);
        if (session != 0 && session != before) return session;
    }
}

}  // namespace

GuestChannel::GuestChannel(EventLoop& loop, SendBytes send, Options options)
    : loop_(loop),
      send_(std::move(send)),
      options_(std::move(options)),
      mux_(guest::Role::Host, *this, loop.clock()) {}

GuestChannel::~GuestChannel() {
    on_lost_ = nullptr;
    disconnect();
    for (auto& [id, waiter] : waiters_) {
        loop_.cancel_timer(waiter.second);
        waiter.first.complete(fail(Errc::Interrupted, "the desktop's channel was closed"));
    }
}

void GuestChannel::send(std::string bytes) {
    send_(std::move(bytes));
}

void GuestChannel::on_bytes(std::string_view bytes) {
    if (connected_) mux_.receive(bytes);
}

void GuestChannel::reset() {
    interrupt(true, "the connection to the guest's agent began anew");
    connected_ = true;
    begin();
}

void GuestChannel::disconnect() {
    interrupt(false, "the connection to the guest's agent was closed");
    connected_ = false;
    mux_.reset();
    stop_timers();
}

void GuestChannel::begin() {
    stop_timers();
    hellos_.clear();
    mux_.begin_session(fresh_session(mux_.session()));
    hello_interval_ = options_.hello_first_interval;
    send_hello();
}

void GuestChannel::stop_timers() {
    loop_.cancel_timer(hello_timer_);
    loop_.cancel_timer(time_timer_);
    hello_timer_ = time_timer_ = 0;
    time_stream_ = 0;
}

void GuestChannel::send_hello() {
    auto time = loop_.clock().wall().time_since_epoch().count();
    if (!hellos_.empty()) time = std::max(time, hellos_.rbegin()->first + 1);
    last_hello_ = loop_.clock().now();
    hellos_.emplace(time, last_hello_);
    if (hellos_.size() > kRememberedHellos) hellos_.erase(hellos_.begin());
    mux_.send_hello({options_.host_version, time});
    schedule_hello(hello_interval_);
    hello_interval_ = std::min(hello_interval_ * 2, options_.hello_longest_interval);
}

void GuestChannel::schedule_hello(Duration delay) {
    loop_.cancel_timer(hello_timer_);
    hello_timer_ = loop_.after(delay, [this] { send_hello(); });
}

void GuestChannel::on_acknowledged(json body) {
    if (ready_) return;
    auto info = guest::parse_hello_info(body);
    const auto told = info ? hellos_.find(info->time_unix_ns) : hellos_.end();
    if (told == hellos_.end()) {
        log::debug("guest.bad_acknowledgement");
        return;
    }
    if (loop_.clock().now() - told->second > kStaleHello) return;  // the next hello comes within a second

    loop_.cancel_timer(hello_timer_);
    hello_timer_ = 0;
    hellos_.clear();
    info_ = std::move(*info);
    ready_ = true;
    schedule_time();
    for (auto& [id, waiter] : std::exchange(waiters_, {})) {
        loop_.cancel_timer(waiter.second);
        waiter.first.complete(*info_);
    }
    resend_waiting();
    post_ready();
}

void GuestChannel::post_ready() {
    loop_.post([this, alive = std::weak_ptr<int>{alive_}, info = *info_] {
        if (!alive.expired() && on_ready_) on_ready_(info);
    });
}

void GuestChannel::on_lost(std::string_view why) {
    // A guest that says "I began anew" again and again gets a hello each time
    // the interval has passed, not each time it asks.
    const bool just_begun = loop_.clock().now() - last_hello_ < options_.hello_first_interval;
    interrupt(true, why);
    if (!just_begun) {
        begin();
        return;
    }
    stop_timers();
    hellos_.clear();
    mux_.begin_session(fresh_session(mux_.session()));
    hello_interval_ = options_.hello_first_interval;
    schedule_hello(hello_interval_);
}

// Ends the session as far as requests are concerned. With `retry`, those that may be
// sent again wait for the next session; otherwise all fail.
void GuestChannel::interrupt(bool retry, std::string_view why) {
    const bool was_ready = std::exchange(ready_, false);
    by_stream_.clear();
    std::vector<std::uint64_t> failed;
    for (auto& [id, pending] : pending_) {
        const bool waits = pending.stream == 0;
        if (retry && (waits || (!pending.retried && guest::is_idempotent(pending.request.method)))) {
            if (!waits) pending.retried = true;
            pending.stream = 0;
        } else {
            failed.push_back(id);
        }
    }
    for (const auto id : failed) complete(id, fail(Errc::Interrupted, std::string{why}));
    if (!was_ready) return;
    log::debug("guest.lost", {{"why", why}});
    loop_.post([this, alive = std::weak_ptr<int>{alive_}, why = std::string{why}] {
        if (!alive.expired() && on_lost_) on_lost_(why);
    });
}

void GuestChannel::resend_waiting() {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, pending] : pending_) {
        if (pending.stream == 0) ids.push_back(id);
    }
    for (const auto id : ids) {
        const auto stream = mux_.open(pending_.at(id).request);
        if (stream) {
            pending_.at(id).stream = *stream;
            by_stream_.emplace(*stream, id);
        } else {
            complete(id, fail(stream.error()));
        }
    }
}

void GuestChannel::complete(std::uint64_t id, Outcome outcome) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) return;
    auto pending = std::move(found->second);
    pending_.erase(found);
    by_stream_.erase(pending.stream);
    loop_.cancel_timer(pending.timer);
    pending.done.complete(std::move(outcome));
}

void GuestChannel::on_close(std::uint32_t stream, Outcome outcome) {
    if (stream == time_stream_) {
        time_stream_ = 0;
        loop_.cancel_timer(time_timer_);
        schedule_time();
        return;
    }
    const auto found = by_stream_.find(stream);
    if (found != by_stream_.end()) complete(found->second, std::move(outcome));
}

void GuestChannel::on_data(std::uint32_t, std::string) {
    // No method streams yet. What a guest sends all the same is dropped, and as
    // the window is never opened again there is little of it.
}

void GuestChannel::schedule_time() {
    time_timer_ = loop_.after(options_.time_interval, [this] { send_time(); });
}

void GuestChannel::send_time() {
    const auto stream = mux_.open({std::string{guest::method::kSetTime},
                                   {{"unix_ns", loop_.clock().wall().time_since_epoch().count()}}});
    if (!stream) {
        schedule_time();
        return;
    }
    time_stream_ = *stream;
    time_timer_ =
        loop_.after(options_.time_timeout, [this] { on_lost("the guest's agent does not answer"); });
}

void GuestChannel::time_out(std::uint64_t id) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) return;
    const auto stream = found->second.stream;
    const auto name = found->second.request.method;
    if (stream != 0) mux_.cancel(stream);
    complete(id, fail(Errc::Timeout, fmt::format("the guest's agent did not answer {} in time", name)));
}

Task<Result<json>> GuestChannel::request(std::string method, json params, Duration timeout) {
    Completion<Outcome> done{loop_};
    guest::Request request{std::move(method), std::move(params)};
    if (!ready_) {
        done.complete(fail(Errc::Unavailable, "the guest's agent has not answered yet"));
        return await_value(done);
    }
    if (pending_.size() >= options_.max_requests) {
        done.complete(fail(Errc::Unavailable, "too many requests to the guest's agent at once"));
        return await_value(done);
    }
    const auto stream = mux_.open(request);
    if (!stream) {
        done.complete(fail(stream.error()));
        return await_value(done);
    }
    const auto id = next_id_++;
    const auto timer = loop_.after(timeout, [this, id] { time_out(id); });
    pending_.emplace(id, Pending{std::move(request), done, timer, *stream, false});
    by_stream_.emplace(*stream, id);
    return await_value(done);
}

Task<Result<HelloInfo>> GuestChannel::wait_ready(Duration timeout) {
    Completion<Result<HelloInfo>> done{loop_};
    if (ready_) {
        done.complete(*info_);
        return await_value(done);
    }
    const auto id = next_id_++;
    const auto timer = loop_.after(timeout, [this, id] {
        const auto found = waiters_.find(id);
        if (found == waiters_.end()) return;
        auto waiter = found->second.first;
        waiters_.erase(found);
        waiter.complete(fail(Errc::Timeout, "the guest's agent did not answer in time"));
    });
    waiters_.emplace(id, std::pair{done, timer});
    return await_value(done);
}

}  // namespace dormouse::vmm

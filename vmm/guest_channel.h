// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/protocol/messages.h"
#include "guest/protocol/mux.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/task.h"

namespace dormouse::vmm {

// The host's end of the connection to dormouse-guestd in one desktop. The
// methods and the form of their JSON: guest/protocol/messages.h.
//
// Does not own the transport: `send` is called with bytes to write to the port,
// on_bytes() takes what was read from it, reset() tells that the port was
// connected (again) or that the VM woke. Nothing is sent before the first
// reset(). `send` must queue and return; it must not call back into the channel.
//
// Core thread only. Destroying it fails what is pending with Errc::Interrupted.
// The guest may be hostile: it can make requests fail or answer nonsense (check
// what you use of an answer), nothing else.
class GuestChannel final : private guest::Mux::Listener {
  public:
    struct Options {
        std::string host_version = "0";
        Duration hello_first_interval = std::chrono::milliseconds{250};  // doubles up to the longest
        Duration hello_longest_interval = std::chrono::seconds{1};
        Duration time_interval = std::chrono::seconds{30};  // the guest's clock is set so often
        Duration time_timeout = std::chrono::seconds{20};   // no answer to that: the session is given up
        std::size_t max_requests = guest::kMaxStreams;
    };
    using SendBytes = std::function<void(std::string bytes)>;

    GuestChannel(EventLoop& loop, SendBytes send) : GuestChannel(loop, std::move(send), Options{}) {}
    GuestChannel(EventLoop& loop, SendBytes send, Options options);
    ~GuestChannel() override;

    void on_bytes(std::string_view bytes);

    // All pending requests fail with Errc::Interrupted, but those that are
    // idempotent are sent once more when the agent has answered the new hello.
    void reset();

    // The port was closed, or the VM is about to stop: as reset(), but no hello
    // is sent until the next reset(). Nothing is retried.
    void disconnect();

    bool ready() const { return ready_; }
    const std::optional<guest::HelloInfo>& info() const { return info_; }  // of the last acknowledgement

    // Errc::Timeout when the agent did not answer in time; Errc::Interrupted when
    // the channel is destroyed. A reset() in between goes on waiting.
    Task<Result<guest::HelloInfo>> wait_ready(Duration timeout);

    // Sends at once (also when the task is never awaited). Errors: those of the agent;
    // Unavailable: not ready() or too many requests; TooLarge; Timeout (the agent
    // is told that nobody waits any more); Interrupted: the connection was lost
    // in the middle; Corrupt: the answer made no sense. The task does not need
    // the channel to live on.
    Task<Result<nlohmann::json>> request(std::string method, nlohmann::json params, Duration timeout);

    // Called from the loop, never from inside a call to the channel. on_ready also
    // after each later reset(). on_lost: reset(), disconnect(), or the agent began anew.
    void set_on_ready(std::function<void(const guest::HelloInfo&)> callback) {
        on_ready_ = std::move(callback);
    }
    void set_on_lost(std::function<void(const std::string& why)> callback) { on_lost_ = std::move(callback); }

  private:
    using Outcome = Result<nlohmann::json>;
    struct Pending {
        guest::Request request;
        Completion<Outcome> done;
        EventLoop::TimerId timer = 0;
        std::uint32_t stream = 0;  // 0: waits to be sent again
        bool retried = false;
    };

    void send(std::string bytes) override;
    void on_acknowledged(nlohmann::json body) override;
    void on_lost(std::string_view why) override;
    void on_close(std::uint32_t stream, Result<nlohmann::json> outcome) override;
    void on_data(std::uint32_t stream, std::string bytes) override;

    void begin();
    void send_hello();
    void schedule_hello(Duration delay);
    void schedule_time();
    void send_time();
    void interrupt(bool retry, std::string_view why);
    void resend_waiting();
    void time_out(std::uint64_t id);
    void complete(std::uint64_t id, Outcome outcome);
    void stop_timers();
    void post_ready();

    EventLoop& loop_;
    SendBytes send_;
    const Options options_;
    guest::Mux mux_;
    bool connected_ = false;
    bool ready_ = false;
    std::optional<guest::HelloInfo> info_;
    std::map<std::uint64_t, Pending> pending_;
    std::map<std::uint32_t, std::uint64_t> by_stream_;
    std::uint64_t next_id_ = 1;
    std::map<std::uint64_t, std::pair<Completion<Result<guest::HelloInfo>>, EventLoop::TimerId>> waiters_;
    EventLoop::TimerId hello_timer_ = 0;
    EventLoop::TimerId time_timer_ = 0;
    Duration hello_interval_{};
    MonotonicTime last_hello_{};
    std::map<std::int64_t, MonotonicTime> hellos_;  // wall time told -> when, for this session
    std::uint32_t time_stream_ = 0;
    std::function<void(const guest::HelloInfo&)> on_ready_;
    std::function<void(const std::string&)> on_lost_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/task.h"
#include "vmm/keeper_stream.h"
#include "vmm/line_framer.h"
#include "vmm/net/control_protocol.h"

namespace dormouse::net {

// The daemon's connection to the network process of one desktop that runs.
//
// It connects by itself, again and again: the process may be started anew at any
// moment. Each time it says what the policy is. Owns the connection; destroying
// it, or close(), leaves the process alone. On the loop's thread; operations in
// progress keep it alive.
class NetdLink : public std::enable_shared_from_this<NetdLink> {
  public:
    // What came up since the last report. Call `done` once it is stored for good
    // (any later time on this thread); else it comes again.
    using OnReport = std::function<void(Report report, std::function<void()> done)>;

    static std::shared_ptr<NetdLink> open(EventLoop& loop, std::string id, std::filesystem::path run_folder,
                                          PolicySettings policy, OnReport on_report);
    NetdLink(const NetdLink&) = delete;
    NetdLink& operator=(const NetdLink&) = delete;
    ~NetdLink();

    // Puts a policy into force. Errc::Timeout when the process has not confirmed
    // it by then; it is told as soon as it can be.
    Task<Result<>> apply(PolicySettings policy, Duration timeout);

    // Returns when what there was to report has been given to `on_report`, or
    // after `timeout`.
    Task<void> flush(Duration timeout);

    void close();
    bool connected() const { return static_cast<bool>(stream_); }

  private:
    NetdLink(EventLoop& loop, std::string id, std::filesystem::path run_folder, PolicySettings policy,
             OnReport on_report);
    void connect();
    void connect_later();
    void attach(UniqueFd socket);
    void lose();
    void on_line(const std::string& line);
    void on_message(FromNetd message);
    void send(const ToNetd& message);
    void wake_waiting();
    Task<void> wait_change(Duration longest);

    EventLoop& loop_;
    const std::string id_;
    const std::filesystem::path run_folder_;
    PolicySettings policy_;
    bool confirmed_ = false;        // the process has said that `policy_` is in force
    std::int64_t unconfirmed_ = 0;  // policies sent on this connection that it has not answered
    OnReport on_report_;
    std::unique_ptr<vmm::ByteStream> stream_;
    std::optional<vmm::LineFramer> lines_;
    std::int64_t next_flush_ = 1;
    std::int64_t flushed_ = 0;  // the last number that came back
    Duration pause_{};          // before the next attempt
    EventLoop::TimerId timer_ = 0;
    bool closed_ = false;
    std::vector<Completion<bool>> waiting_;
};

}  // namespace dormouse::net

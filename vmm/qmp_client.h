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

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/task.h"
#include "hostd/base/unique_fd.h"
#include "vmm/line_framer.h"

namespace dormouse::vmm {

// One line from QEMU, understood.
struct QmpMessage {
    enum class Kind { Greeting, Event, Return, Error, Unknown };
    Kind kind = Kind::Unknown;
    std::string id;        // of Return and Error; empty when QEMU could not tell
    std::string name;      // of an event; the class of an error
    std::string text;      // description of an error
    nlohmann::json value;  // data of an event, value of a return, body of the greeting
};
// Errc::Corrupt when it is not a JSON object.
Result<QmpMessage> parse_qmp_message(std::string_view line);

// One conversation with QEMU's monitor over whatever carries lines.
//
// Owns nothing but its pending commands: when it is closed or destroyed, each
// of them ends with the given error. Lives on the loop's thread. A command may
// be awaited after the client is gone.
class QmpClient {
  public:
    // Takes one line, with its line feed, and perhaps a descriptor that QEMU
    // shall get with it.
    using Send = std::function<Result<>(std::string line, UniqueFd fd)>;
    using EventHandler = std::function<void(std::string name, nlohmann::json data)>;

    QmpClient(EventLoop& loop, Send send, EventHandler on_event);
    QmpClient(const QmpClient&) = delete;
    QmpClient& operator=(const QmpClient&) = delete;
    ~QmpClient();

    // Bytes or whole lines from QEMU, in any pieces. May call the event handler.
    // on_line() tells whether the line was the answer to a command of this client.
    void on_bytes(std::string_view bytes);
    bool on_line(std::string_view line);

    // Waits for the greeting and leaves negotiation mode. Gives the greeting's
    // "QMP" object. Not for a connection on which a keeper has done it. Unlike
    // the other commands it needs the client to live on.
    Task<Result<nlohmann::json>> negotiate(Duration timeout = std::chrono::seconds{10});

    // Gives QEMU's "return". An answer that comes after the time-out is ignored.
    // Errc::Unavailable once closed.
    Task<Result<nlohmann::json>> execute(std::string command,
                                         nlohmann::json arguments = nlohmann::json::object(),
                                         Duration timeout = std::chrono::seconds{10});
    Task<Result<nlohmann::json>> execute_with_fd(std::string command, nlohmann::json arguments, UniqueFd fd,
                                                 Duration timeout = std::chrono::seconds{10});

    // Ends all pending commands with `reason`, and each later one with
    // Errc::Unavailable.
    void close(Error reason);
    // Ends all pending commands with `reason`; later ones are sent as before.
    void fail_pending(const Error& reason);

    std::size_t pending() const { return pending_.size(); }

  private:
    struct Pending {
        std::string command;
        Completion<Result<nlohmann::json>> done;
        EventLoop::TimerId timer;
    };
    Completion<Result<nlohmann::json>> begin(std::string command, nlohmann::json arguments, UniqueFd fd,
                                             Duration timeout);
    bool finish(const std::string& id, Result<nlohmann::json> result);
    bool on_message(QmpMessage message);

    EventLoop& loop_;
    Send send_;
    EventHandler on_event_;
    LineFramer framer_;
    const std::string prefix_;  // random: a keeper's connection to QEMU outlives its daemons
    std::uint64_t next_ = 1;
    std::map<std::string, Pending> pending_;
    std::optional<Error> closed_;
    std::optional<nlohmann::json> greeting_;
    std::optional<Completion<Result<nlohmann::json>>> greeting_waiter_;
};

}  // namespace dormouse::vmm

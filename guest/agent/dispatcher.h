// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "guest/agent/methods.h"
#include "guest/protocol/mux.h"

namespace dormouse::agent {

// The guest's end of the connection: answers the host's hello (after it has set
// the clock) and carries out its requests. The loop's thread.
class Dispatcher final : public std::enable_shared_from_this<Dispatcher>, private guest::Mux::Listener {
  public:
    // `send` must queue and return.
    static std::shared_ptr<Dispatcher> create(std::shared_ptr<Services> services,
                                              std::function<void(std::string bytes)> send);

    void connected();     // the port works (again): asks for a hello
    void disconnected();  // forgets the session; answers of running requests are dropped
    void on_bytes(std::string_view bytes) { mux_.receive(bytes); }

  private:
    Dispatcher(std::shared_ptr<Services> services, std::function<void(std::string)> send);
    void send(std::string bytes) override { send_(std::move(bytes)); }
    void on_hello(nlohmann::json body) override;
    void on_open(std::uint32_t stream, guest::Request request) override;
    void answer_hello();
    static Task<void> run(std::shared_ptr<Dispatcher> self, std::uint32_t session, std::uint32_t stream,
                          guest::Request request);

    std::shared_ptr<Services> services_;
    std::function<void(std::string)> send_;
    guest::Mux mux_;
    std::optional<guest::HostHello> hello_;  // not answered yet
};

}  // namespace dormouse::agent

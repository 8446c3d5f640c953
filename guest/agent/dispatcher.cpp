// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/dispatcher.h"

#include "hostd/base/log.h"

namespace dormouse::agent {

std::shared_ptr<Dispatcher> Dispatcher::create(std::shared_ptr<Services> services,
                                               std::function<void(std::string)> send) {
    return std::shared_ptr<Dispatcher>{new Dispatcher{std::move(services), std::move(send)}};
}

Dispatcher::Dispatcher(std::shared_ptr<Services> services, std::function<void(std::string)> send)
    : services_(std::move(services)),
      send_(std::move(send)),
      mux_(guest::Role::Guest, *this, services_->loop.clock()) {}

void Dispatcher::connected() {
    mux_.reset();
    hello_.reset();
    mux_.ask_for_hello();
}

void Dispatcher::disconnected() {
    mux_.reset();
    hello_.reset();
}

void Dispatcher::on_hello(nlohmann::json body) {
    auto hello = guest::parse_host_hello(body);
    if (!hello) {
        log::warn("agent.bad_hello", {{"why", hello.error().message}});
        return;
    }
    const bool scheduled = hello_.has_value();
    hello_ = std::move(*hello);
    // While the guest boots, hellos pile up in the port. Only the newest has the
    // right time, so the answer waits until what is there has been read.
    if (scheduled) return;
    services_->loop.post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->answer_hello();
    });
}

void Dispatcher::answer_hello() {
    if (!hello_) return;
    const auto time = hello_->time_unix_ns;
    hello_.reset();
    apply_time(services_->system, time);
    mux_.acknowledge({DORMOUSE_VERSION, services_->system.boot_id(), time, method_names()});
}

void Dispatcher::on_open(std::uint32_t stream, guest::Request request) {
    spawn(run(shared_from_this(), mux_.session(), stream, std::move(request)));
}

Task<void> Dispatcher::run(std::shared_ptr<Dispatcher> self, std::uint32_t session, std::uint32_t stream,
                           guest::Request request) {
    const auto outcome = co_await call_method(self->services_, std::move(request));
    // A stream number means another request in another session.
    if (self->mux_.session() == session) self->mux_.close(stream, outcome);
}

}  // namespace dormouse::agent

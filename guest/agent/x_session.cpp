// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/x_session.h"

#include "hostd/base/log.h"

namespace dormouse::agent {

namespace {

constexpr auto kRetry = std::chrono::milliseconds{500};
// Between two looks at other things; clients can send events without end.
constexpr int kEventsAtOnce = 500;

}  // namespace

XSession::XSession(EventLoop& loop, std::string display) : loop_(loop), display_(std::move(display)) {
    try_connect();
}

XSession::~XSession() {
    loop_.cancel_timer(retry_);
    watch_.reset();
}

XConnection* XSession::connection() {
    if (connection_ && connection_->broken()) drop();
    return connection_.get();
}

void XSession::schedule_connect() {
    loop_.cancel_timer(retry_);
    retry_ = loop_.after(kRetry, [this] { try_connect(); });
}

void XSession::try_connect() {
    retry_ = 0;
    auto connection = XConnection::connect(display_);
    if (!connection) {
        schedule_connect();
        return;
    }
    connection_ = std::move(*connection);
    owner_ = std::make_unique<SelectionOwner>(loop_, *connection_);
    reader_ = std::make_unique<SelectionReader>(loop_, *connection_);
    connection_->set_on_read([this] { schedule_events(); });
    watch_ = loop_.watch(connection_->fd(), POLLIN, [this](short) { dispatch_events(); });
    schedule_events();
    log::info("agent.x_connected", {{"display", display_}});
    if (on_connected_) on_connected_();
}

void XSession::drop() {
    watch_.reset();
    reader_.reset();
    owner_.reset();
    connection_.reset();
    log::info("agent.x_lost", {{"display", display_}});
    schedule_connect();
}

void XSession::schedule_events() {
    if (std::exchange(events_scheduled_, true)) return;
    loop_.post([this, alive = std::weak_ptr<int>{alive_}] {
        if (alive.expired()) return;
        events_scheduled_ = false;
        dispatch_events();
    });
}

void XSession::dispatch_events() {
    for (int i = 0; i < kEventsAtOnce; ++i) {
        if (!connection()) return;
        const auto event = connection_->next_event();
        if (!event) return;
        owner_->on_event(*event);
        reader_->on_event(*event);
    }
    schedule_events();
}

}  // namespace dormouse::agent

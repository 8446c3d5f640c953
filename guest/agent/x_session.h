// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "guest/agent/selection_owner.h"
#include "guest/agent/selection_reader.h"
#include "guest/agent/x_connection.h"
#include "hostd/base/event_loop.h"

namespace dormouse::agent {

// The connection to the desktop's X server, made again whenever the server
// comes (back), with the parts that live on it. The loop's thread.
class XSession {
  public:
    XSession(EventLoop& loop, std::string display);
    ~XSession();
    XSession(const XSession&) = delete;
    XSession& operator=(const XSession&) = delete;

    // Null while there is no server. Good until the loop is run again.
    XConnection* connection();
    SelectionOwner* owner() { return connection() ? owner_.get() : nullptr; }
    SelectionReader* reader() { return connection() ? reader_.get() : nullptr; }

    // Called for each new connection.
    void set_on_connected(std::function<void()> callback) { on_connected_ = std::move(callback); }

  private:
    void try_connect();
    void drop();
    void schedule_connect();
    void schedule_events();
    void dispatch_events();

    EventLoop& loop_;
    const std::string display_;
    std::unique_ptr<XConnection> connection_;
    std::unique_ptr<SelectionOwner> owner_;
    std::unique_ptr<SelectionReader> reader_;
    EventLoop::IoWatch watch_;
    EventLoop::TimerId retry_ = 0;
    bool events_scheduled_ = false;
    std::function<void()> on_connected_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace dormouse::agent

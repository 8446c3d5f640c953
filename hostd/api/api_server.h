// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hostd/base/config.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/desktop/gateway.h"
#include "hostd/wsio/http_server.h"

namespace dormouse::api {

// The API and the pages over HTTP: takes requests on the net thread, which it
// owns through wsio::HttpServer, and asks the domain on the core thread.
//
// Made, stopped and destroyed on the core thread (the one that runs `core`).
// When a client goes away, the Cancel of its command is cancelled. `core` and
// `gateway` must outlive this and every command in progress: before they are
// destroyed, stop() and then await finished().
class ApiServer {
  public:
    // Serves at once; requests wait until `core` runs. Errors: as those of
    // wsio::HttpServer::start.
    static Result<std::unique_ptr<ApiServer>> start(EventLoop& core, desktop::Gateway& gateway,
                                                    wsio::HttpServerOptions options,
                                                    const LimitsConfig& limits = {});
    ~ApiServer();
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;

    std::uint16_t port() const { return server_->port(); }

    // Takes no more requests, closes all connections, and cancels what they had
    // asked for. Blocks for at most about a second. A second call does nothing.
    void stop();

    // Waits until no command of a request is in progress any more and no event
    // stream is open. After stop(),
    // and once only.
    Task<void> finished();

  private:
    class Core;
    ApiServer(std::shared_ptr<Core> core, std::unique_ptr<wsio::HttpServer> server);

    std::shared_ptr<Core> core_;
    std::unique_ptr<wsio::HttpServer> server_;
};

}  // namespace dormouse::api

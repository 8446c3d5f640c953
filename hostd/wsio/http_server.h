// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "hostd/base/result.h"
#include "hostd/wsio/http_message.h"
#include "hostd/wsio/http_options.h"
#include "hostd/wsio/responder.h"

namespace dormouse::wsio {

struct HttpServerOptions {
    std::string address = "127.0.0.1";  // a name or a number, v4 or v6
    std::uint16_t port = 0;             // 0: the system picks one, see port()
    HttpLimits limits;
};

// Called on the net thread for each whole request; must not block. Answers, now
// or later, through the responder. An exception is logged and answered with 500.
using HttpHandler = std::function<void(HttpRequest, Responder)>;

// HTTP/1.1 and 1.0 for the API and the plain page. No TLS, no HTTP/2.
//
// Owns the net thread, which owns the one libwebsockets context and all
// connections; nothing else calls libwebsockets, but for lws_cancel_service.
// Other threads reach it through a Responder. Destroying it stops it.
//
// Why not the HTTP of libwebsockets 4.1.6: it rewrites the path before anybody
// sees it ("//", "..", %-escapes), joins repeated headers (two Content-Length
// become one number), passes chunked bodies on raw and without their end, does
// not answer Expect, and answers bad requests with pages of its own, or not at
// all. So connections have its raw role, and the protocol is HttpConnection's. A
// WebSocket upgrade can still be handed over with the bytes read so far
// (lws_adopt_socket_vhost_readbuf).
//
// What follows from the raw role: end of file from the client closes the
// connection, also when only its sending half was closed (`nc -N`); requests
// that were not answered by then count as given up.
class HttpServer {
  public:
    // Listens and serves at once. Errc::Conflict when the port is taken,
    // Errc::InvalidArgument for an address that is not this machine's.
    static Result<std::unique_ptr<HttpServer>> start(HttpServerOptions options, HttpHandler handler);

    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    std::uint16_t port() const;

    // Takes no more requests, gives answers on their way a second to leave,
    // closes everything and joins the thread. Open requests are told with
    // on_disconnect; the handler is not called any more once this returns. Any
    // thread but the net thread; a second call does nothing.
    void stop();

  private:
    class Impl;
    explicit HttpServer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace dormouse::wsio

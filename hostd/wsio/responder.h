// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "hostd/wsio/http_message.h"

namespace dormouse::wsio {

// The way back to the client of one request. Copies share it; any thread.
//
// It answers once: the first respond() wins, later ones are ignored, and so is
// one that comes after the client or the server has gone. When the last copy is
// dropped without an answer, the client gets 500.
class Responder {
  public:
    using Send = std::function<void(HttpResponse)>;

    // `send` is called at most once, on the thread of respond().
    explicit Responder(Send send);

    void respond(HttpResponse response) const;

    // `callback` is called once if the client goes away (or the server stops)
    // before the answer: on the net thread, or at once on this one if that has
    // happened already. It must be quick and safe to call from any thread: post
    // to a loop. A client that only closes its sending half counts as gone too.
    // A second call replaces the first callback. It is dropped with the answer.
    void on_disconnect(std::function<void()> callback) const;

    // True once the client has gone without an answer.
    bool disconnected() const;

    // For the connection: the client has gone. Harmless after the answer.
    class Watch {
      public:
        Watch() = default;
        void disconnect() const;

      private:
        friend class Responder;
        struct Shared;
        explicit Watch(std::weak_ptr<Shared> shared) : shared_(std::move(shared)) {}
        std::weak_ptr<Shared> shared_;
    };
    Watch watch() const { return Watch{shared_}; }

  private:
    std::shared_ptr<Watch::Shared> shared_;
};

}  // namespace dormouse::wsio

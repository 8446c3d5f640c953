// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/responder.h"

#include <mutex>
#include <utility>

#include "hostd/base/log.h"
#include "hostd/wsio/body_stream.h"

namespace dormouse::wsio {

struct Responder::Watch::Shared {
    explicit Shared(Send sender) : send(std::move(sender)) {}
    ~Shared() {
        if (answered || gone) return;
        log::error("http.request_dropped");
        send(fault_response({500, "the request was dropped without an answer"}));
    }

    std::mutex mutex;
    Send send;                            // guarded by mutex until answered
    std::function<void()> on_disconnect;  // guarded by mutex
    bool answered = false;                // guarded by mutex
    bool gone = false;                    // guarded by mutex
};

Responder::Responder(Send send) : shared_(std::make_shared<Watch::Shared>(std::move(send))) {}

void Responder::respond(HttpResponse response) const {
    Send send;
    std::function<void()> dropped;  // destroyed outside the lock: it may own anything
    {
        std::unique_lock lock{shared_->mutex};
        if (shared_->answered) {
            lock.unlock();
            if (response.stream) response.stream->close();
            return;
        }
        shared_->answered = true;
        send = std::exchange(shared_->send, nullptr);
        dropped = std::exchange(shared_->on_disconnect, nullptr);
    }
    send(std::move(response));
}

void Responder::on_disconnect(std::function<void()> callback) const {
    {
        std::lock_guard lock{shared_->mutex};
        if (shared_->answered) return;
        if (!shared_->gone) {
            std::swap(shared_->on_disconnect, callback);
            return;
        }
    }
    callback();
}

bool Responder::disconnected() const {
    std::lock_guard lock{shared_->mutex};
    return shared_->gone && !shared_->answered;
}

void Responder::Watch::disconnect() const {
    const auto shared = shared_.lock();
    if (!shared) return;
    std::function<void()> callback;
    {
        std::lock_guard lock{shared->mutex};
        if (shared->answered || shared->gone) return;
        shared->gone = true;
        callback = std::exchange(shared->on_disconnect, nullptr);
    }
    if (callback) callback();
}

}  // namespace dormouse::wsio

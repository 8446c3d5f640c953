// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace dormouse::wsio {

// The body of an answer that is made while it is sent: one writer, one client.
//
// Bounded: what the client does not take waits here, up to `limit` bytes; a
// writer that finds no room decides what is to be lost. Any thread. Put into
// HttpResponse::stream; when the last copy of a response is dropped without
// being sent, or the client goes away, the stream closes.
class BodyStream {
  public:
    explicit BodyStream(std::size_t limit) : limit_(limit) {}

    // False, and nothing taken, when there is no room or nobody reads any more.
    bool write(std::string_view bytes);
    // Nothing more comes. `last` is taken whatever its size.
    void end(std::string_view last = {});
    // Whether the client has gone, or never came.
    bool closed() const;
    // Called once when that happens: on the net thread, or at once on this one if
    // it has happened already. As quick as Responder::on_disconnect's.
    void on_closed(std::function<void()> callback);

    // ---- for the connection

    // `wake` is called from write() and end(): there is something to take.
    void attach(std::function<void()> wake);
    std::string take(std::size_t most);
    bool has_more() const;  // bytes to take, or an end to see
    bool ended() const;     // all was taken, nothing more comes
    void close();           // what waits is dropped

  private:
    const std::size_t limit_;
    mutable std::mutex mutex_;
    std::size_t size() const { return waiting_.size() - taken_; }

    std::string waiting_;    // guarded by mutex_, as what follows
    std::size_t taken_ = 0;  // bytes of waiting_ that are on their way
    bool ended_ = false;
    bool closed_ = false;
    std::function<void()> wake_;
    std::function<void()> on_closed_;
};

}  // namespace dormouse::wsio

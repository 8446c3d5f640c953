// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hostd/base/clock.h"
#include "hostd/wsio/body_reader.h"
#include "hostd/wsio/body_stream.h"
#include "hostd/wsio/head_reader.h"
#include "hostd/wsio/http_message.h"
#include "hostd/wsio/http_options.h"

namespace dormouse::wsio {

// The server's side of one HTTP/1.1 connection, without the socket: bytes in,
// requests out; answers in, bytes out. One request at a time; what a client
// sends ahead waits.
//
// Lives on one thread. The owner calls receive() with what came, writes what
// take_output() gives and says on_written(), and on_deadline() when deadline()
// has come; after each of these (and answer()) it looks at has_output(), wants_input(), half_close() and
// closed() again. Any fault is answered and ends the connection.
class HttpConnection {
  public:
    // Called from receive() or on_written() with each whole request
    // and its number, to be given to answer(). Must not call back.
    using OnRequest = std::function<void(HttpRequest request, std::uint64_t number)>;

    HttpConnection(const HttpLimits& limits, const Clock& clock, std::string remote, OnRequest on_request);

    void receive(std::string_view bytes);
    // Ignored unless request `number` is the one that waits. A stream that is not
    // sent is closed.
    void answer(std::uint64_t number, const HttpResponse& response);
    // The stream that is being sent has bytes again: the client's time begins.
    void on_stream_data();
    // Nothing is added to the stream that is being sent, if there is one.
    void end_stream();
    // The client has gone: closes that stream.
    void disconnected();
    // Says no at once to a client that there is no room for.
    void refuse(const HttpFault& fault);

    bool has_output() const {
        return !output_.empty() || body_left() > 0 || (stream_ && stream_->has_more());
    }
    // Moves the next bytes into `into`; returns how many.
    std::size_t take_output(std::span<unsigned char> into);
    // All that was taken has gone to the system. With the last byte of an answer
    // the next request begins.
    void on_written();

    // False while bytes of an answer are on their way, and while more is sent ahead than we keep;
    // then nobody notices when the client goes away.
    bool wants_input() const;
    // Everything is sent: shut the sending half down, let the client close.
    bool half_close() const { return state_ == State::Lingering; }
    bool closed() const { return state_ == State::Closed; }  // close now
    bool waiting_for_answer() const { return state_ == State::Waiting; }
    bool streaming() const { return state_ == State::Streaming; }

    std::optional<MonotonicTime> deadline() const;
    void on_deadline();

  private:
    enum class State { Head, Body, Waiting, Sending, Streaming, Lingering, Closed };

    std::size_t body_left() const { return body_ ? body_->size() - body_sent_ : 0; }
    void process();  // input_ until a request is whole
    void process_head();
    void begin_body();
    void process_body();
    void dispatch();
    void fail(const HttpFault& fault);
    void send(const HttpResponse& response);
    void take_from_stream();

    const HttpLimits limits_;
    const Clock& clock_;
    const std::string remote_;
    const OnRequest on_request_;

    State state_ = State::Head;
    std::string input_;  // not looked at yet
    HeadReader head_;
    BodyReader reader_;
    RequestLine line_;
    HttpRequest request_;
    bool is_head_request_ = false;
    bool keep_alive_ = true;
    std::uint64_t number_ = 0;

    std::string output_;  // goes before body_
    std::shared_ptr<const std::string> body_;
    std::size_t body_sent_ = 0;
    std::shared_ptr<BodyStream> stream_;  // while Streaming
    bool chunked_ = false;                // how it is framed
    bool on_its_way_ = false;             // bytes were taken and not yet written

    MonotonicTime phase_began_;    // this head, body, answer or lingering
    MonotonicTime last_progress_;  // a byte came or went
};

}  // namespace dormouse::wsio

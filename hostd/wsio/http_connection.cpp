// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/http_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hostd/base/check.h"
#include "hostd/base/log.h"
#include "hostd/wsio/http_target.h"

namespace dormouse::wsio {

namespace {

// How much of the next requests is kept while one is being worked on. Reading on
// is how we learn that the client went away.
constexpr std::size_t kMaxAhead = 64 << 10;

// Of a stream at once: some events, a part of a long one.
constexpr std::size_t kStreamPart = 16 << 10;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

HttpConnection::HttpConnection(const HttpLimits& limits, const Clock& clock, std::string remote,
                               OnRequest on_request)
    : limits_(limits),
      clock_(clock),
      remote_(std::move(remote)),
      on_request_(std::move(on_request)),
      head_(limits.head, limits.headers),
      phase_began_(clock.now()),
      last_progress_(phase_began_) {}

void HttpConnection::receive(std::string_view bytes) {
    last_progress_ = clock_.now();
    if (state_ == State::Lingering || state_ == State::Closed) return;
    input_.append(bytes);
    process();
}

bool HttpConnection::wants_input() const {
    switch (state_) {
        case State::Head:
        case State::Body:
        case State::Lingering:
            return true;
        case State::Waiting:
            return input_.size() < kMaxAhead;
        case State::Streaming:
            return !on_its_way_ && !has_output() && input_.size() < kMaxAhead;
        case State::Sending:
        case State::Closed:
            return false;
    }
    return false;
}

void HttpConnection::process() {
    if (state_ == State::Head) process_head();
    if (state_ == State::Body) process_body();
}

void HttpConnection::process_head() {
    if (!head_.begun() && !input_.empty()) phase_began_ = clock_.now();
    input_.erase(0, head_.feed(input_));
    if (head_.state() == HeadReader::State::Reading) return;
    if (head_.state() == HeadReader::State::Failed) return fail(head_.fault());

    auto line = parse_request_line(head_.start_line());
    if (!line) return fail(line.error());
    line_ = std::move(*line);
    request_.headers = std::move(head_.headers());
    is_head_request_ = line_.method == "HEAD";

    const auto& headers = request_.headers;
    if (line_.version_minor == 1 && !headers.contains("host"))
        return fail({400, "HTTP/1.1 needs a Host header"});
    auto target = parse_target(line_.target);
    if (!target) return fail(target.error());
    request_.method = line_.method;
    request_.path = std::move(target->path);
    request_.query = std::move(target->query);
    request_.remote = remote_;
    // HTTP/1.0 clients that ask for keep-alive do without.
    keep_alive_ = line_.version_minor == 1 && !has_token(find_header(headers, "connection"), "close");
    begin_body();
}

void HttpConnection::begin_body() {
    reader_ = request_body(request_.headers, line_.version_minor, limits_.body);
    if (reader_.state() == BodyReader::State::Failed) return fail(reader_.fault());
    if (const auto expect = find_header(request_.headers, "expect"); !expect.empty()) {
        if (!has_token(expect, "100-continue"))
            return fail({417, "the only expectation understood is 100-continue"});
        // A client that has begun to send does not wait for it any more.
        if (line_.version_minor == 1 && reader_.state() == BodyReader::State::Reading && input_.empty())
            output_ += kContinue;
    }
    state_ = State::Body;
    phase_began_ = last_progress_ = clock_.now();
}

void HttpConnection::process_body() {
    input_.erase(0, reader_.feed(input_));
    if (reader_.state() == BodyReader::State::Failed) return fail(reader_.fault());
    if (reader_.state() == BodyReader::State::Reading) return;
    request_.body = reader_.take();
    dispatch();
}

void HttpConnection::dispatch() {
    state_ = State::Waiting;
    on_request_(std::exchange(request_, {}), ++number_);
}

void HttpConnection::answer(std::uint64_t number, const HttpResponse& response) {
    if (state_ != State::Waiting || number != number_) {
        if (response.stream) response.stream->close();
        return;
    }
    send(response);
}

void HttpConnection::on_stream_data() {
    if (state_ == State::Streaming && !on_its_way_ && output_.empty()) last_progress_ = clock_.now();
}

void HttpConnection::end_stream() {
    if (stream_) stream_->end();
}

void HttpConnection::disconnected() {
    if (const auto stream = std::exchange(stream_, nullptr)) stream->close();
}

void HttpConnection::refuse(const HttpFault& fault) {
    if (state_ == State::Head) fail(fault);
}

void HttpConnection::fail(const HttpFault& fault) {
    keep_alive_ = false;
    send(fault_response(fault));
}

void HttpConnection::send(const HttpResponse& response) {
    const bool streamed = response.stream != nullptr;
    chunked_ = streamed && line_.version_minor == 1;
    if (streamed && !chunked_) keep_alive_ = false;
    const auto ending = chunked_ ? Ending::Chunked : streamed ? Ending::Close : Ending::Length;
    auto head = serialize_head(response, line_.version_minor, keep_alive_, ending);
    if (head.empty()) {
        log::error("http.bad_response_header", {{"status", response.status}});
        if (streamed) response.stream->close();
        return fail({500, "the answer could not be sent"});
    }
    output_ += head;
    const bool without_body = is_head_request_ || response.status == 204 || response.status == 304;
    body_ = without_body ? nullptr : response.body;
    body_sent_ = 0;
    state_ = State::Sending;
    phase_began_ = last_progress_ = clock_.now();
    if (!streamed) return;
    if (without_body) return response.stream->close();
    stream_ = response.stream;
    state_ = State::Streaming;
}

// Into output_, in its framing; the end of the stream is that of the answer.
void HttpConnection::take_from_stream() {
    const auto part = stream_->take(kStreamPart);
    if (!part.empty()) output_ += chunked_ ? fmt::format("{:x}\r\n{}\r\n", part.size(), part) : part;
    if (!stream_->ended()) return;
    if (chunked_) output_ += "0\r\n\r\n";
    std::exchange(stream_, nullptr)->close();
    state_ = State::Sending;
}

std::size_t HttpConnection::take_output(std::span<unsigned char> into) {
    std::size_t used = 0;
    const auto move = [&](std::string_view from) {
        const auto count = std::min(from.size(), into.size() - used);
        std::memcpy(into.data() + used, from.data(), count);
        used += count;
        return count;
    };
    if (output_.empty() && stream_) take_from_stream();
    if (!output_.empty()) output_.erase(0, move(output_));
    if (body_left() > 0) body_sent_ += move(std::string_view{*body_}.substr(body_sent_));
    if (used > 0) {
        last_progress_ = clock_.now();
        on_its_way_ = true;
    } else if (state_ == State::Sending) {
        on_written();  // a stream that ended without another byte
    }
    return used;
}

void HttpConnection::on_written() {
    last_progress_ = clock_.now();
    on_its_way_ = false;
    if (state_ != State::Sending || has_output()) return;
    body_.reset();
    phase_began_ = last_progress_;
    if (!keep_alive_) {
        state_ = State::Lingering;
        input_ = {};
        return;
    }
    state_ = State::Head;
    head_ = HeadReader{limits_.head, limits_.headers};
    reader_ = {};
    line_ = {};
    is_head_request_ = false;
    process();
}

std::optional<MonotonicTime> HttpConnection::deadline() const {
    switch (state_) {
        case State::Head:
            return phase_began_ + (head_.begun() ? limits_.head_time : limits_.idle);
        case State::Body:
            return std::min(phase_began_ + limits_.body_time, last_progress_ + limits_.body_pause);
        case State::Waiting:
            return std::nullopt;
        case State::Sending:
            return last_progress_ + limits_.write_pause;
        case State::Streaming:
            if (on_its_way_ || has_output()) return last_progress_ + limits_.write_pause;
            return std::nullopt;
        case State::Lingering:
            return phase_began_ + limits_.linger;
        case State::Closed:
            return std::nullopt;
    }
    return std::nullopt;
}

void HttpConnection::on_deadline() {
    const auto due = deadline();
    if (!due || clock_.now() < *due) return;
    if (state_ == State::Head && head_.begun()) return fail({408, "the request headers took too long"});
    if (state_ == State::Body) return fail({408, "the request body took too long"});
    state_ = State::Closed;
    disconnected();
}

}  // namespace dormouse::wsio

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "hostd/wsio/body_reader.h"
#include "hostd/wsio/http_message.h"

namespace dormouse::wsio {

// Collects the start line and the headers of one HTTP message.
//
// A plain value; holds at most `max_bytes`. Strict where leniency would let two
// parsers disagree: lines end with CR LF, no folded lines, no space before the
// colon, no control characters.
class HeadReader {
  public:
    enum class State { Reading, Done, Failed };

    HeadReader(std::size_t max_bytes, std::size_t max_headers)
        : max_bytes_(max_bytes), max_headers_(max_headers) {}

    // As BodyReader::feed.
    std::size_t feed(std::string_view bytes);

    State state() const { return state_; }
    bool begun() const { return bytes_ > 0; }
    const HttpFault& fault() const { return fault_; }
    const std::string& start_line() const { return start_line_; }
    Headers& headers() { return headers_; }

  private:
    void take_line();
    void take_header(std::string_view line);
    void fail(int status, std::string_view message);

    std::size_t max_bytes_;
    std::size_t max_headers_;
    State state_ = State::Reading;
    std::size_t bytes_ = 0;
    std::size_t count_ = 0;  // of headers
    bool after_cr_ = false;
    std::string line_;
    std::string start_line_;
    Headers headers_;
    HttpFault fault_;
};

struct RequestLine {
    std::string method;
    std::string target;
    int version_minor = 1;
};
tl::expected<RequestLine, HttpFault> parse_request_line(std::string_view line);

struct StatusLine {
    int version_minor = 1;
    int status = 0;
};
tl::expected<StatusLine, HttpFault> parse_status_line(std::string_view line);

// How the body of a request with these headers is framed; a reader with the
// fault when it must not be read at all.
BodyReader request_body(const Headers& headers, int version_minor, std::size_t limit);

// The same for the answer to `method`.
BodyReader response_body(const Headers& headers, std::string_view method, int status, std::size_t limit);

// Whether a comma-separated header has this (lower case) word.
bool has_token(std::string_view header, std::string_view token);

}  // namespace dormouse::wsio

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "hostd/wsio/http_message.h"

namespace dormouse::wsio {

// Collects the body of one HTTP message, with or without chunked framing.
//
// A plain value: no threads, no input or output. It never holds more than
// `limit` bytes of body, and of the chunked framing nothing at all. Everything
// that two parsers could read differently (a bare line feed, spaces around a
// chunk's size, ...) is a fault, since that is what request smuggling lives on.
class BodyReader {
  public:
    enum class State { Reading, Done, Failed };

    BodyReader() : BodyReader(Framing::Length, 0, 0) {}                      // no body: Done
    static BodyReader with_length(std::uint64_t length, std::size_t limit);  // too long: Failed at once, 413
    static BodyReader chunked(std::size_t limit);
    static BodyReader until_close(std::size_t limit);  // only answers may be framed like this

    static BodyReader refused(HttpFault fault);  // Failed with that

    // Takes what belongs to this body and returns how much that was. Takes
    // nothing once it is Done or Failed.
    std::size_t feed(std::string_view bytes);

    // No more bytes will come: Done when that is how this body ends, else Failed.
    void end_of_input();

    State state() const { return state_; }
    const HttpFault& fault() const { return fault_; }  // when Failed
    // What has been read; also in the middle, and then the rest later.
    std::string take() { return std::exchange(body_, {}); }

  private:
    enum class Framing { Length, Chunked, UntilClose };
    enum class Step { Size, Extension, SizeLf, Data, DataCr, DataLf, LineStart, Line, LineLf, LastLf };

    BodyReader(Framing framing, std::uint64_t length, std::size_t limit);
    std::size_t feed_data(std::string_view bytes);  // up to remaining_
    void feed_framing(char byte);
    void feed_size(char byte);
    void end_size();
    bool count_overhead(char byte);
    void fail(int status, std::string_view message);

    Framing framing_;
    State state_ = State::Reading;
    Step step_ = Step::Size;
    std::uint64_t remaining_;  // of the body, or of this chunk
    std::size_t limit_;
    std::size_t size_digits_ = 0;  // of this chunk's size
    std::size_t overhead_ = 0;     // bytes of extensions and trailers
    std::string body_;
    HttpFault fault_;
};

}  // namespace dormouse::wsio

// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/body_reader.h"

#include <algorithm>

namespace dormouse::wsio {

namespace {

// Extensions and trailers are read and thrown away. Nobody sends them, so a
// little is enough; without a limit they would be a way to keep us busy for ever.
constexpr std::size_t kMaxOverhead = 4096;
constexpr std::size_t kMaxSizeDigits = 16;
constexpr std::string_view kTooLarge = "the request body is too large";

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

BodyReader::BodyReader(Framing framing, std::uint64_t length, std::size_t limit)
    : framing_(framing), remaining_(length), limit_(limit) {
    if (framing != Framing::Length) return;
    if (length > limit) fail(413, kTooLarge);
    if (length == 0) state_ = State::Done;
}

BodyReader BodyReader::with_length(std::uint64_t length, std::size_t limit) {
    return {Framing::Length, length, limit};
}
BodyReader BodyReader::chunked(std::size_t limit) {
    return {Framing::Chunked, 0, limit};
}
BodyReader BodyReader::until_close(std::size_t limit) {
    return {Framing::UntilClose, 0, limit};
}
BodyReader BodyReader::refused(HttpFault fault) {
    BodyReader reader;
    reader.fail(fault.status, fault.message);
    return reader;
}

std::size_t BodyReader::feed(std::string_view bytes) {
    std::size_t used = 0;
    while (used < bytes.size() && state_ == State::Reading) {
        if (framing_ != Framing::Chunked || step_ == Step::Data) {
            used += feed_data(bytes.substr(used));
        } else {
            feed_framing(bytes[used++]);
        }
    }
    return used;
}

void BodyReader::end_of_input() {
    if (state_ != State::Reading) return;
    if (framing_ == Framing::UntilClose) {
        state_ = State::Done;
    } else {
        fail(400, "the body ended too early");
    }
}

std::size_t BodyReader::feed_data(std::string_view bytes) {
    if (framing_ == Framing::UntilClose) {
        if (bytes.size() > limit_ - body_.size()) {
            fail(413, kTooLarge);
            return 0;
        }
        body_.append(bytes);
        return bytes.size();
    }
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), remaining_));
    body_.append(bytes.substr(0, count));
    remaining_ -= count;
    if (remaining_ == 0) {
        if (framing_ == Framing::Length) {
            state_ = State::Done;
        } else {
            step_ = Step::DataCr;
        }
    }
    return count;
}

void BodyReader::feed_framing(char byte) {
    const auto expect = [&](char wanted, Step next) {
        if (byte != wanted) return fail(400, "the chunked body is malformed");
        step_ = next;
    };
    switch (step_) {
        case Step::Size:
            return feed_size(byte);
        case Step::Extension:
            if (byte == '\r') {
                step_ = Step::SizeLf;
            } else {
                count_overhead(byte);
            }
            return;
        case Step::SizeLf:
            if (byte == '\n') return end_size();
            return fail(400, "the chunked body is malformed");
        case Step::Data:
            return;  // not framing; see feed()
        case Step::DataCr:
            return expect('\r', Step::DataLf);
        case Step::DataLf:
            return expect('\n', Step::Size);
        case Step::LineStart:
            if (byte == '\r') {
                step_ = Step::LastLf;
            } else if (count_overhead(byte)) {
                step_ = Step::Line;
            }
            return;
        case Step::Line:
            if (byte == '\r') {
                step_ = Step::LineLf;
            } else {
                count_overhead(byte);
            }
            return;
        case Step::LineLf:
            return expect('\n', Step::LineStart);
        case Step::LastLf:
            if (byte != '\n') return fail(400, "the chunked body is malformed");
            state_ = State::Done;
            return;
    }
}

void BodyReader::feed_size(char byte) {
    if (const int digit = hex_value(byte); digit >= 0) {
        if (++size_digits_ > kMaxSizeDigits) return fail(400, "the size of a chunk is malformed");
        remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
        return;
    }
    if (size_digits_ == 0 || (byte != '\r' && byte != ';'))
        return fail(400, "the size of a chunk is malformed");
    if (byte == ';' && !count_overhead(byte)) return;
    step_ = byte == ';' ? Step::Extension : Step::SizeLf;
}

void BodyReader::end_size() {
    size_digits_ = 0;
    if (remaining_ == 0) {
        step_ = Step::LineStart;
        return;
    }
    if (remaining_ > limit_ - body_.size()) return fail(413, kTooLarge);
    step_ = Step::Data;
}

bool BodyReader::count_overhead(char byte) {
    const auto code = static_cast<unsigned char>(byte);
    if ((code < 0x20 && byte != '\t') || code == 0x7f) {
        fail(400, "there is a control character in the chunked body's framing");
        return false;
    }
    if (++overhead_ > kMaxOverhead) {
        fail(400, "there are too many chunk extensions or trailers");
        return false;
    }
    return true;
}

void BodyReader::fail(int status, std::string_view message) {
    state_ = State::Failed;
    fault_ = {status, message};
    body_ = {};
}

}  // namespace dormouse::wsio

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "guest/protocol/frame.h"

namespace dormouse::guest {

// Finds frames in a stream of bytes that may be cut anywhere and may hold
// garbage. What is not a whole frame of our version with a right CRC is skipped
// byte by byte until the next magic. Keeps at most one frame (kMaxFrame bytes)
// between calls. Work is linear in the bytes fed, whatever they are: see
// kCrcBytesPerByte. Any one thread.
class FrameDecoder {
  public:
    using Sink = std::function<void(Frame)>;

    // Calls `sink` for each frame that is now complete. The sink may call
    // clear(); then the rest of `bytes` is dropped too.
    void feed(std::string_view bytes, const Sink& sink);

    // Forgets a half-received frame.
    void clear();

    // A sender that stopped in the middle of a frame (it was put to sleep, or
    // killed) leaves a header that swallows what comes next. If a whole Hello or
    // HelloAck stands within the unfinished frame, this gives up that frame and
    // goes on from there. Call it when a frame stays unfinished for long; not at
    // once, because the payload of an honest Data frame may look like a hello.
    bool rescue(const Sink& sink);

    bool partial() const { return !buffer_.empty(); }
    std::size_t buffered() const { return buffer_.size(); }
    std::uint64_t frames_decoded() const { return frames_decoded_; }
    std::uint64_t bytes_skipped() const { return bytes_skipped_; }
    std::uint64_t bad_crcs() const { return bad_crcs_; }

  private:
    enum class Verdict { Frame, NeedMore, NotAFrame };
    Verdict inspect(std::string_view bytes, Frame& out);
    bool drain(const Sink& sink);  // false when the sink cleared us
    void skip(std::size_t count);

    std::string buffer_;
    std::size_t position_ = 0;  // start of what is not yet decided
    std::uint64_t generation_ = 0;
    std::uint64_t crc_credit_ = 0;
    std::uint64_t frames_decoded_ = 0;
    std::uint64_t bytes_skipped_ = 0;
    std::uint64_t bad_crcs_ = 0;
};

}  // namespace dormouse::guest

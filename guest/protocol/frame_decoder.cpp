// SPDX-License-Identifier: Apache-2.0
#include "guest/protocol/frame_decoder.h"

#include <algorithm>
#include <cstring>

#include "guest/protocol/crc32.h"

namespace dormouse::guest {

namespace {

// A guest may send nothing but headers that each claim 64 KiB; checking each
// would cost thousands of CRC bytes a byte sent. So each byte that comes pays for
// checking this many; a candidate that cannot be paid for is not a frame. Honest
// streams check each byte once, and a few times right after a cut.
constexpr std::uint64_t kCrcBytesPerByte = 8;
constexpr std::uint64_t kMaxCrcCredit = 8 * kMaxFrame;

// What is fed is taken in slices, so that the buffer stays small.
constexpr std::size_t kSlice = 16 * 1024;

const std::string_view kMagicView{kMagic.data(), kMagic.size()};

}  // namespace

FrameDecoder::Verdict FrameDecoder::inspect(std::string_view bytes, Frame& out) {
    const auto magic = bytes.substr(0, kMagicView.size());
    if (magic != kMagicView.substr(0, magic.size())) return Verdict::NotAFrame;
    if (bytes.size() > 4 && static_cast<unsigned char>(bytes[4]) != kProtocolVersion)
        return Verdict::NotAFrame;
    if (bytes.size() < kHeaderSize) return Verdict::NeedMore;

    const auto type = static_cast<std::uint8_t>(bytes[5]);
    const std::size_t length = read_u32(bytes, 20);
    if (type < static_cast<std::uint8_t>(FrameType::Hello) ||
        type > static_cast<std::uint8_t>(FrameType::Pong) || length > kMaxPayload) {
        return Verdict::NotAFrame;
    }
    if (bytes.size() < kHeaderSize + length) return Verdict::NeedMore;

    const auto cost = kHeaderSize + length;
    if (cost > crc_credit_) return Verdict::NotAFrame;
    crc_credit_ -= cost;
    const auto payload = bytes.substr(kHeaderSize, length);
    if (crc32(payload, crc32(bytes.substr(0, 24))) != read_u32(bytes, 24)) {
        ++bad_crcs_;
        return Verdict::NotAFrame;
    }
    out.type = static_cast<FrameType>(type);
    out.flags = static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[6]) |
                                           static_cast<unsigned char>(bytes[7]) << 8);
    out.session = read_u32(bytes, 8);
    out.stream = read_u32(bytes, 12);
    out.sequence = read_u32(bytes, 16);
    out.payload.assign(payload);
    return Verdict::Frame;
}

void FrameDecoder::skip(std::size_t count) {
    position_ += count;
    bytes_skipped_ += count;
}

bool FrameDecoder::drain(const Sink& sink) {
    while (position_ < buffer_.size()) {
        const auto rest = std::string_view{buffer_}.substr(position_);
        if (rest[0] != kMagic[0]) {
            const auto next = rest.find(kMagic[0]);
            skip(next == std::string_view::npos ? rest.size() : next);
            continue;
        }
        Frame frame;
        const auto verdict = inspect(rest, frame);
        if (verdict == Verdict::NeedMore) break;
        if (verdict == Verdict::NotAFrame) {
            skip(1);
            continue;
        }
        position_ += kHeaderSize + frame.payload.size();
        ++frames_decoded_;
        const auto generation = generation_;
        sink(std::move(frame));
        if (generation != generation_) return false;
    }
    buffer_.erase(0, position_);
    position_ = 0;
    return true;
}

void FrameDecoder::feed(std::string_view bytes, const Sink& sink) {
    while (!bytes.empty()) {
        const auto slice = bytes.substr(0, kSlice);
        bytes.remove_prefix(slice.size());
        crc_credit_ = std::min(crc_credit_ + slice.size() * kCrcBytesPerByte, kMaxCrcCredit);
        buffer_ += slice;
        if (!drain(sink)) return;
    }
}

void FrameDecoder::clear() {
    ++generation_;
    buffer_.clear();
    buffer_.shrink_to_fit();
    position_ = 0;
}

bool FrameDecoder::rescue(const Sink& sink) {
    for (std::size_t at = 1;; ++at) {
        at = std::string_view{buffer_}.find(kMagicView, at);
        if (at == std::string::npos) return false;
        Frame frame;
        if (inspect(std::string_view{buffer_}.substr(at), frame) != Verdict::Frame) continue;
        if (frame.type != FrameType::Hello && frame.type != FrameType::HelloAck) continue;
        skip(at);
        drain(sink);
        return true;
    }
}

}  // namespace dormouse::guest

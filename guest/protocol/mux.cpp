// SPDX-License-Identifier: Apache-2.0
#include "guest/protocol/mux.h"

#include <algorithm>

#include "hostd/base/check.h"
#include "hostd/base/log.h"

namespace dormouse::guest {

namespace {

using nlohmann::json;

// In all streams together; one long message each way is what is ever needed.
constexpr std::size_t kMaxCollected = 2 * kMaxMessage;
// A window that is opened further than this is a mistake or a lie.
constexpr std::size_t kMaxSendCredit = 16 << 20;
// A frame that is still not complete after so long may have been cut off.
constexpr auto kStuckAfter = std::chrono::milliseconds{500};

Result<Request> read_request(std::string_view text) {
    DORMOUSE_TRY_ASSIGN(const auto body, parse_json(text));
    return parse_request(body);
}

Result<json> read_outcome(std::string_view text) {
    DORMOUSE_TRY_ASSIGN(const auto body, parse_json(text));
    return parse_outcome(body);
}

}  // namespace

Mux::Mux(Role role, Listener& listener, const Clock& clock)
    : role_(role), listener_(listener), clock_(clock) {
    reset();
}

void Mux::receive(std::string_view bytes) {
    decoder_.feed(bytes, [this](Frame frame) { handle(std::move(frame)); });
    rescue_if_stuck();
}

void Mux::rescue_if_stuck() {
    const auto now = clock_.now();
    if (!decoder_.partial()) {
        partial_frame_.reset();
    } else if (partial_frame_ != decoder_.frames_decoded()) {
        partial_frame_ = decoder_.frames_decoded();
        partial_since_ = now;
    } else if (now - partial_since_ >= kStuckAfter) {
        partial_frame_.reset();
        decoder_.rescue([this](Frame frame) { handle(std::move(frame)); });
    }
}

void Mux::begin_session(std::uint32_t session) {
    DORMOUSE_CHECK(role_ == Role::Host && session != 0);
    reset();
    session_ = session;
}

void Mux::send_hello(const HostHello& hello) {
    DORMOUSE_CHECK(role_ == Role::Host && session_ != 0);
    listener_.send(encode_frame({FrameType::Hello, 0, session_, 0, 0, dump_json(to_json(hello))}));
}

void Mux::acknowledge(const HelloInfo& info) {
    DORMOUSE_CHECK(role_ == Role::Guest);
    if (session_ == 0) return;
    established_ = true;
    listener_.send(encode_frame({FrameType::HelloAck, 0, session_, 0, 0, dump_json(to_json(info))}));
}

void Mux::ask_for_hello() {
    DORMOUSE_CHECK(role_ == Role::Guest);
    listener_.send(encode_frame({FrameType::Hello, 0, 0, 0, 0, {}}));
}

void Mux::reset() {
    decoder_.clear();
    forget_streams();
    session_ = 0;
    established_ = false;
}

void Mux::forget_streams() {
    streams_.clear();
    collected_ = 0;
    send_sequence_ = 0;
    receive_sequence_ = 0;
    next_stream_ = role_ == Role::Host ? 1 : 2;
    highest_peer_stream_ = 0;
}

void Mux::erase_stream(std::uint32_t id) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    collected_ -= found->second.message.size();
    streams_.erase(found);
}

void Mux::lose(std::string_view why) {
    forget_streams();
    established_ = false;
    session_ = 0;
    if (role_ == Role::Guest) ask_for_hello();
    listener_.on_lost(why);
}

void Mux::handle(Frame frame) {
    if (frame.type == FrameType::Hello) {
        handle_hello(std::move(frame));
        return;
    }
    if (session_ == 0 || frame.session != session_) {
        log::debug("guest.frame_of_other_session", {{"type", static_cast<int>(frame.type)}});
        return;
    }
    if (frame.type == FrameType::HelloAck) {
        if (role_ != Role::Host) return;
        auto body = parse_json(frame.payload);
        if (!body) return;
        established_ = true;
        listener_.on_acknowledged(std::move(*body));
        return;
    }
    if (!established_) return;
    if (frame.sequence != receive_sequence_) {
        lose("bytes were lost");
        return;
    }
    ++receive_sequence_;
    handle_stream_frame(std::move(frame));
}

void Mux::handle_hello(Frame frame) {
    if (role_ == Role::Host) {
        // Before that, hellos are being repeated anyway.
        if (frame.session == 0 && established_) lose("the agent began anew");
        return;
    }
    auto body = parse_json(frame.payload);
    if (frame.session == 0 || !body) return;
    if (frame.session != session_ || !established_) {
        forget_streams();
        established_ = false;
        session_ = frame.session;
    }
    listener_.on_hello(std::move(*body));
}

void Mux::handle_stream_frame(Frame frame) {
    if (frame.type == FrameType::Open) {
        handle_open(std::move(frame));
        return;
    }
    if (frame.type == FrameType::Ping) {
        // Only the guest's end answers: a guest that pings without reading
        // would fill the host's memory with answers.
        if (role_ == Role::Guest) send_frame(FrameType::Pong, 0, std::move(frame.payload));
        return;
    }
    if (frame.type == FrameType::Pong) {
        listener_.on_pong();
        return;
    }
    const auto id = frame.stream;
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;  // most likely cancelled or closed a moment ago
    auto& stream = found->second;
    if (frame.type == FrameType::Data) {
        handle_data(id, stream, std::move(frame));
    } else if (frame.type == FrameType::Window) {
        handle_window(id, stream, frame);
    } else if (frame.type == FrameType::Close) {
        handle_close(id, stream, std::move(frame));
    } else if (frame.type == FrameType::Cancel && !stream.ours) {
        const bool opening = stream.opening;
        erase_stream(id);
        if (!opening) listener_.on_cancel(id);
    }
}

// Appends the payload to the stream's message; false when that is too much.
bool Mux::collect(Stream& stream, Frame& frame) {
    const auto size = frame.payload.size();
    if (stream.message.size() + size > kMaxMessage || collected_ + size > kMaxCollected) return false;
    collected_ += size;
    stream.message += frame.payload;
    return true;
}

void Mux::handle_open(Frame frame) {
    // The guest has nothing to ask of the host yet. No answer either: see Ping.
    if (role_ == Role::Host) return;
    const auto id = frame.stream;
    if (id % 2 != 1) return;
    if (id > highest_peer_stream_) {
        highest_peer_stream_ = id;
        if (streams_.size() >= kMaxStreams) {
            refuse(id, Errc::Unavailable, "too many streams at once");
            return;
        }
        streams_[id].opening = true;
    }
    const auto found = streams_.find(id);
    if (found == streams_.end() || !found->second.opening) return;
    auto& stream = found->second;
    if (!collect(stream, frame)) {
        erase_stream(id);
        refuse(id, Errc::TooLarge, "the request is too large");
        return;
    }
    if (frame.flags & kFlagMore) return;
    collected_ -= stream.message.size();
    const auto text = std::exchange(stream.message, {});
    stream.opening = false;
    auto request = read_request(text);
    if (!request) {
        erase_stream(id);
        refuse(id, Errc::InvalidArgument, request.error().message);
        return;
    }
    listener_.on_open(id, std::move(*request));
}

void Mux::handle_data(std::uint32_t id, Stream& stream, Frame frame) {
    if (stream.opening) return;
    if (frame.payload.size() <= stream.receive_credit) {
        stream.receive_credit -= frame.payload.size();
        listener_.on_data(id, std::move(frame.payload));
        return;
    }
    const bool ours = stream.ours;
    if (ours) {
        cancel(id);
        listener_.on_close(id, fail(Errc::Corrupt, "more data came than was asked for"));
    } else {
        erase_stream(id);
        refuse(id, Errc::InvalidArgument, "more data came than the window allows");
        listener_.on_cancel(id);
    }
}

void Mux::handle_window(std::uint32_t id, Stream& stream, const Frame& frame) {
    if (frame.payload.size() != 4) return;
    const bool was_full = stream.send_credit == 0;
    stream.send_credit = std::min(stream.send_credit + read_u32(frame.payload, 0), kMaxSendCredit);
    if (was_full && stream.send_credit > 0) listener_.on_writable(id);
}

void Mux::handle_close(std::uint32_t id, Stream& stream, Frame frame) {
    if (!stream.ours) return;
    if (!collect(stream, frame)) {
        cancel(id);
        listener_.on_close(id, fail(Errc::TooLarge, "the answer is too large"));
        return;
    }
    if (frame.flags & kFlagMore) return;
    auto outcome = read_outcome(stream.message);
    erase_stream(id);
    listener_.on_close(id, std::move(outcome));
}

void Mux::refuse(std::uint32_t id, Errc code, std::string_view why) {
    send_message(FrameType::Close, id, dump_json(outcome_to_json(fail(code, std::string{why}))));
}

void Mux::send_frame(FrameType type, std::uint32_t stream, std::string payload, std::uint16_t flags) {
    listener_.send(encode_frame({type, flags, session_, stream, send_sequence_++, std::move(payload)}));
}

void Mux::send_message(FrameType type, std::uint32_t stream, std::string_view text) {
    while (text.size() > kMaxPayload) {
        send_frame(type, stream, std::string{text.substr(0, kMaxPayload)}, kFlagMore);
        text.remove_prefix(kMaxPayload);
    }
    send_frame(type, stream, std::string{text});
}

Result<std::uint32_t> Mux::open(const Request& request) {
    if (!established_) return fail(Errc::Unavailable, "the other end has not said hello");
    if (streams_.size() >= kMaxStreams) return fail(Errc::Unavailable, "too many streams at once");
    const auto text = dump_json(to_json(request));
    if (text.size() > kMaxMessage) return fail(Errc::TooLarge, "the request is too large");
    const auto id = next_stream_;
    next_stream_ += 2;
    streams_[id].ours = true;
    send_message(FrameType::Open, id, text);
    return id;
}

void Mux::cancel(std::uint32_t stream) {
    const auto found = streams_.find(stream);
    if (found == streams_.end() || !found->second.ours) return;
    erase_stream(stream);
    send_frame(FrameType::Cancel, stream, {});
}

void Mux::close(std::uint32_t stream, const Result<json>& outcome) {
    const auto found = streams_.find(stream);
    if (found == streams_.end() || found->second.ours) return;
    erase_stream(stream);
    const auto text = dump_json(outcome_to_json(outcome));
    if (text.size() > kMaxMessage) {
        refuse(stream, Errc::TooLarge, "the answer is too large");
        return;
    }
    send_message(FrameType::Close, stream, text);
}

std::size_t Mux::writable(std::uint32_t stream) const {
    const auto found = streams_.find(stream);
    return found == streams_.end() ? 0 : found->second.send_credit;
}

std::size_t Mux::write(std::uint32_t stream, std::string_view bytes) {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return 0;
    bytes = bytes.substr(0, found->second.send_credit);
    found->second.send_credit -= bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += kMaxPayload) {
        send_frame(FrameType::Data, stream, std::string{bytes.substr(at, kMaxPayload)});
    }
    return bytes.size();
}

void Mux::end_data(std::uint32_t stream) {
    if (streams_.count(stream) != 0) send_frame(FrameType::Data, stream, {});
}

void Mux::consumed(std::uint32_t stream, std::size_t count) {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return;
    auto& state = found->second;
    state.consumed = std::min(state.consumed + count, kStreamWindow - state.receive_credit);
    // Told in large steps, so that small reads do not each cost a frame.
    if (state.consumed < kStreamWindow / 2) return;
    std::string payload;
    append_u32(payload, static_cast<std::uint32_t>(state.consumed));
    state.receive_credit += std::exchange(state.consumed, 0);
    send_frame(FrameType::Window, stream, std::move(payload));
}

void Mux::ping() {
    if (established_) send_frame(FrameType::Ping, 0, {});
}

}  // namespace dormouse::guest

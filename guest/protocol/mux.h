// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "guest/protocol/frame_decoder.h"
#include "guest/protocol/messages.h"
#include "hostd/base/clock.h"
#include "hostd/base/result.h"

namespace dormouse::guest {

enum class Role { Host, Guest };

constexpr std::size_t kMaxStreams = 64;
// How much Data may be under way to one side on one stream.
constexpr std::size_t kStreamWindow = 256 * 1024;

// One end of the connection: sessions, streams and flow control, without a
// transport and without timers of its own.
//
// The host begins a session with a hello under a fresh number and repeats it
// until it is acknowledged; the guest answers. Whatever belongs to another
// session is dropped. Lost bytes (a gap in the sequence) end the session: the
// host is told to begin a new one, the guest asks for one.
//
// The other end may be hostile: memory is bounded, nothing it sends makes the
// host's end send more than it asked for, and it is never believed about sizes.
//
// One thread. `listener` must outlive it and may call it from the callbacks,
// but not destroy it there. send() must not call back into receive().
class Mux {
  public:
    class Listener {
      public:
        virtual ~Listener() = default;
        virtual void send(std::string bytes) = 0;

        // Guest: a new session has begun (every earlier stream is gone) or its
        // hello came again. Answer with acknowledge(), at once or later.
        virtual void on_hello(nlohmann::json body) { static_cast<void>(body); }
        // Host: the hello was acknowledged; may come again with the same session.
        virtual void on_acknowledged(nlohmann::json body) { static_cast<void>(body); }
        // Bytes were lost or the other end began anew. No stream works any more.
        virtual void on_lost(std::string_view why) { static_cast<void>(why); }

        virtual void on_open(std::uint32_t stream, Request request) {
            static_cast<void>(stream);
            static_cast<void>(request);
        }
        // Empty: no more will come. Call consumed() once the bytes are dealt with.
        virtual void on_data(std::uint32_t stream, std::string bytes) {
            static_cast<void>(stream);
            static_cast<void>(bytes);
        }
        virtual void on_writable(std::uint32_t stream) { static_cast<void>(stream); }
        // The answer to our open(); the stream is gone.
        virtual void on_close(std::uint32_t stream, Result<nlohmann::json> outcome) {
            static_cast<void>(stream);
            static_cast<void>(outcome);
        }
        // The other end has cancelled its open; the stream is gone.
        virtual void on_cancel(std::uint32_t stream) { static_cast<void>(stream); }
        virtual void on_pong() {}
    };

    Mux(Role role, Listener& listener, const Clock& clock);
    Mux(const Mux&) = delete;
    Mux& operator=(const Mux&) = delete;

    void receive(std::string_view bytes);

    // Host: forgets the session with its streams and half-received bytes; frames
    // of `session` (not 0) count from now on. Then send_hello() until on_acknowledged().
    void begin_session(std::uint32_t session);
    void send_hello(const HostHello& hello);

    // Guest: answers the newest hello; the session is established.
    void acknowledge(const HelloInfo& info);
    // Guest: asks the host for a hello (after a start, or when bytes were lost).
    void ask_for_hello();

    // Forgets everything; for when the transport was closed. No callbacks.
    void reset();

    bool established() const { return established_; }
    std::uint32_t session() const { return session_; }
    std::size_t stream_count() const { return streams_.size(); }

    // The opener's side. Errc::Unavailable without a session or with too many
    // streams, Errc::TooLarge when the request is.
    Result<std::uint32_t> open(const Request& request);
    void cancel(std::uint32_t stream);

    // The answerer's side; ends the stream. Unknown streams are ignored: they
    // may have been cancelled a moment ago.
    void close(std::uint32_t stream, const Result<nlohmann::json>& outcome);

    // Both sides. writable() bytes may be written now; on_writable() tells of
    // more. write() takes no more than that and returns how much it took.
    std::size_t writable(std::uint32_t stream) const;
    std::size_t write(std::uint32_t stream, std::string_view bytes);
    void end_data(std::uint32_t stream);
    void consumed(std::uint32_t stream, std::size_t count);

    void ping();

    const FrameDecoder& decoder() const { return decoder_; }

  private:
    struct Stream {
        bool ours = false;  // we opened it
        std::size_t send_credit = kStreamWindow;
        std::size_t receive_credit = kStreamWindow;
        std::size_t consumed = 0;  // not yet told to the other end
        std::string message;       // of an Open or Close that is not complete
        bool opening = false;      // its Open is not complete
    };

    void handle(Frame frame);
    void handle_hello(Frame frame);
    void handle_stream_frame(Frame frame);
    void handle_open(Frame frame);
    void handle_data(std::uint32_t id, Stream& stream, Frame frame);
    void handle_close(std::uint32_t id, Stream& stream, Frame frame);
    void handle_window(std::uint32_t id, Stream& stream, const Frame& frame);
    bool collect(Stream& stream, Frame& frame);
    void lose(std::string_view why);
    void forget_streams();
    void erase_stream(std::uint32_t id);
    void refuse(std::uint32_t id, Errc code, std::string_view why);
    void send_frame(FrameType type, std::uint32_t stream, std::string payload, std::uint16_t flags = 0);
    void send_message(FrameType type, std::uint32_t stream, std::string_view text);
    void rescue_if_stuck();

    const Role role_;
    Listener& listener_;
    const Clock& clock_;
    FrameDecoder decoder_;
    MonotonicTime partial_since_{};
    std::optional<std::uint64_t>
        partial_frame_;  // the decoder's frame count when a frame was first seen unfinished

    std::uint32_t session_ = 0;
    bool established_ = false;
    std::uint32_t send_sequence_ = 0;
    std::uint32_t receive_sequence_ = 0;
    std::uint32_t next_stream_ = 0;
    std::uint32_t highest_peer_stream_ = 0;
    std::size_t collected_ = 0;  // bytes in all unfinished messages
    std::map<std::uint32_t, Stream> streams_;
};

}  // namespace dormouse::guest

// SPDX-License-Identifier: Apache-2.0
// Bytes from the other side of the port: the decoder alone, the connection at
// both its ends, and the host's channel as a hostile guest reaches it. The input
// holds frames of session kSession so that a corpus can get past the hello.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "guest/protocol/frame_decoder.h"
#include "guest/protocol/mux.h"
#include "vmm/guest_channel.h"

namespace {

using namespace dormouse;
using guest::Mux;

constexpr std::uint32_t kSession = 0x44524d31;

void require(bool holds) {
    if (!holds) std::abort();
}

struct Listener final : Mux::Listener {
    void send(std::string bytes) override { sent += bytes.size(); }
    void on_hello(nlohmann::json body) override {
        if (const auto hello = guest::parse_host_hello(body))
            mux->acknowledge({"f", "b", hello->time_unix_ns, {}});
    }
    void on_acknowledged(nlohmann::json body) override { static_cast<void>(guest::parse_hello_info(body)); }
    void on_open(std::uint32_t stream, guest::Request request) override {
        if (request.method.size() % 2 == 0) mux->close(stream, std::move(request.params));
    }
    void on_data(std::uint32_t stream, std::string bytes) override { mux->consumed(stream, bytes.size()); }
    void on_close(std::uint32_t, Result<nlohmann::json> outcome) override {
        if (outcome) static_cast<void>(guest::dump_json(*outcome));
    }
    Mux* mux = nullptr;
    std::size_t sent = 0;
};

void check_decoder(std::string_view input) {
    guest::FrameDecoder whole;
    std::size_t frames = 0;
    std::uint32_t sum = 0;
    const auto count = [&](const guest::Frame& frame) {
        ++frames;
        sum += frame.session + frame.stream + static_cast<std::uint32_t>(frame.payload.size());
        require(frame.payload.size() <= guest::kMaxPayload);
    };
    whole.feed(input, count);
    require(whole.buffered() <= 2 * guest::kMaxFrame);
    whole.rescue([](const guest::Frame&) {});

    const auto whole_frames = std::exchange(frames, 0);
    const auto whole_sum = std::exchange(sum, 0);
    guest::FrameDecoder single;
    for (const char& byte : input) single.feed({&byte, 1}, count);
    // Where checks had to be skipped to bound the work, the cut may matter.
    if (whole.bad_crcs() == 0) require(frames == whole_frames && sum == whole_sum);
}

void check_host(std::string_view input) {
    const ManualClock clock;
    Listener listener;
    Mux mux{guest::Role::Host, listener, clock};
    listener.mux = &mux;
    mux.begin_session(kSession);
    mux.receive(guest::encode_frame({guest::FrameType::HelloAck, 0, kSession, 0, 0, "{}"}));
    for (int i = 0; i < 3; ++i) static_cast<void>(mux.open({"ping", nlohmann::json::object()}));
    listener.sent = 0;
    mux.receive(input);
    require(mux.stream_count() <= guest::kMaxStreams);
    // Windows are given back and bad streams cancelled; nothing else is said.
    require(listener.sent <= input.size() + 3 * guest::kHeaderSize);
}

// The whole of the host's side. Its session is random, so the input is moved into it.
void check_channel(std::string_view input) {
    ManualClock clock;
    EventLoop loop{clock};
    std::uint32_t session = 0;
    std::int64_t told = 0;
    std::size_t sent = 0;
    guest::FrameDecoder host_frames;
    vmm::GuestChannel channel{
        loop, [&](std::string bytes) {
            sent += bytes.size();
            host_frames.feed(bytes, [&](const guest::Frame& frame) {
                if (frame.type != guest::FrameType::Hello) return;
                session = frame.session;
                told = guest::parse_host_hello(*guest::parse_json(frame.payload))->time_unix_ns;
            });
        }};
    channel.reset();
    channel.on_bytes(guest::encode_frame({guest::FrameType::HelloAck, 0, session, 0, 0,
                                          guest::dump_json(to_json(guest::HelloInfo{"f", "b", told, {}}))}));
    require(channel.ready());
    for (const char* method : {"status", "paste_text", "ping"}) {
        spawn(channel.request(method, nlohmann::json::object(), std::chrono::seconds{1}));
    }
    sent = 0;
    guest::FrameDecoder cut;
    cut.feed(input, [&](guest::Frame frame) {
        if (frame.session == kSession) frame.session = session;
        channel.on_bytes(guest::encode_frame(frame));
    });
    channel.on_bytes(input);
    require(sent <= input.size() + 1000);
    clock.advance(std::chrono::seconds{2});
    loop.run_ready();
    channel.disconnect();
    loop.run_ready();
}

void check_guest(std::string_view input) {
    const ManualClock clock;
    Listener listener;
    Mux mux{guest::Role::Guest, listener, clock};
    listener.mux = &mux;
    mux.receive(guest::encode_frame(
        {guest::FrameType::Hello, 0, kSession, 0, 0, R"({"host_version":"f","time_unix_ns":1})"}));
    mux.receive(input);
    require(mux.stream_count() <= guest::kMaxStreams);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    check_decoder(input);
    check_host(input);
    check_channel(input);
    check_guest(input);
    return 0;
}

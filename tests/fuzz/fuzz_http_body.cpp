// SPDX-License-Identifier: Apache-2.0
// Everything between the socket and a handler: never crashes, hangs or holds
// more than its limits, and reads the same in whatever pieces the bytes come.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/wsio/body_reader.h"
#include "hostd/wsio/http_connection.h"

namespace {

using namespace dormouse;
using namespace dormouse::wsio;

constexpr std::size_t kLimit = 4096;

void require(bool condition) {
    if (!condition) std::abort();
}

void read_chunks(std::string_view input, std::size_t step) {
    auto whole = BodyReader::chunked(kLimit);
    const auto used = whole.feed(input);
    auto pieces = BodyReader::chunked(kLimit);
    std::size_t taken = 0;
    while (taken < input.size()) {
        const auto piece = input.substr(taken, step);
        const auto count = pieces.feed(piece);
        taken += count;
        if (count < piece.size()) break;
    }
    require(taken == used && pieces.state() == whole.state());
    if (whole.state() == BodyReader::State::Done) {
        const auto body = whole.take();
        require(body.size() <= kLimit && body == pieces.take());
    }
}

// All requests of a connection and all that it says, for bytes in such steps.
std::string converse(std::string_view input, std::size_t step) {
    const ManualClock clock;
    std::string seen;
    std::uint64_t waiting = 0;
    HttpConnection connection{HttpLimits{.body = kLimit}, clock, "peer",
                              [&](HttpRequest request, std::uint64_t number) {
                                  require(request.body.size() <= kLimit && request.path.starts_with('/'));
                                  seen += request.method + ' ' + request.path + ' ' + request.body + '\n';
                                  waiting = number;
                              }};
    std::vector<unsigned char> buffer(512);
    const auto settle = [&] {
        for (;;) {
            if (connection.waiting_for_answer()) connection.answer(waiting, {.status = 204});
            if (!connection.has_output()) return;
            require(connection.take_output(buffer) > 0);
            connection.on_written();
        }
    };
    for (std::size_t at = 0; at < input.size(); at += step) {
        connection.receive(input.substr(at, step));
        settle();
    }
    return seen + (connection.half_close() ? "ended" : "open");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input{reinterpret_cast<const char*>(data), size};
    read_chunks(input, 1);
    read_chunks(input, 7);
    require(converse(input, 1) == converse(input, input.size() + 1));
    return 0;
}

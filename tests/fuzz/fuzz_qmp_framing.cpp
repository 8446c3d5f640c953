// SPDX-License-Identifier: Apache-2.0
// Bytes from QEMU: the lines must not depend on how they were cut, nothing may
// grow past the limit, and no line may upset the client.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "vmm/keeper_protocol.h"
#include "vmm/line_framer.h"
#include "vmm/qmp_client.h"

namespace {

using namespace dormouse;

constexpr std::size_t kLimit = 200;

std::vector<std::string> lines_of(std::string_view bytes, std::size_t piece) {
    vmm::LineFramer framer{kLimit};
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        framer.feed(bytes.substr(at, piece));
        while (auto line = framer.next()) {
            if (line->size() > kLimit) std::abort();
            lines.push_back(std::move(*line));
        }
    }
    return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const auto lines = lines_of(bytes, 1);
    if (lines != lines_of(bytes, 7) || lines != lines_of(bytes, size + 1)) std::abort();

    ManualClock clock;
    EventLoop loop{clock};
    vmm::QmpClient client{loop, [](std::string, UniqueFd) -> Result<> { return {}; },
                          [](const std::string&, const nlohmann::json& data_of_event) {
                              (void)data_of_event.dump(-1, ' ', false,
                                                       nlohmann::json::error_handler_t::replace);
                          }};
    spawn(client.execute("query-status"));
    for (const auto& line : lines) {
        client.on_line(line);
        if (const auto parsed = nlohmann::json::parse(line, nullptr, false); !parsed.is_discarded()) {
            (void)vmm::parse_exit_record(parsed);
            (void)vmm::parse_hello(parsed);
        }
        (void)vmm::parse_launch_file(line);
    }
    client.close(Error{Errc::Interrupted, "the end", {}, 0});
    loop.run_ready();
    return 0;
}

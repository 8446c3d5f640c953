// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/progress.h"

#include <ostream>

namespace dormouse::cli {

namespace {
constexpr std::string_view kClearLine = "\r\x1b[K";
}

Progress::Progress(Streams& streams, std::string text) : streams_(streams), text_(std::move(text)) {
    if (streams_.err_is_terminal) thread_ = std::jthread{[this](const std::stop_token& stop) { work(stop); }};
}

Progress::~Progress() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
    streams_.err << kClearLine << std::flush;
}

void Progress::set(std::string text) {
    std::lock_guard lock{mutex_};
    if (text == text_) return;
    text_ = std::move(text);
    if (thread_.joinable()) draw();
}

void Progress::draw() {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_).count();
    streams_.err << fmt::format("{}{}  {} s", kClearLine, plain(text_), seconds) << std::flush;
}

void Progress::work(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
        draw();
        changed_.wait_for(lock, stop, std::chrono::seconds{1}, [] { return false; });
    }
}

}  // namespace dormouse::cli

// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/bake_log.h"

#include <fcntl.h>
#include <unistd.h>

#include "hostd/base/file.h"

namespace dormouse::desktop {

namespace {
// Soon enough for somebody who watches, and no load.
constexpr auto kLookEvery = std::chrono::milliseconds{300};
constexpr std::size_t kLongestLine = 4000;
// At once: whoever says more than that waits for the next look.
constexpr std::size_t kMostAtOnce = 256 << 10;
}  // namespace

Result<> BakeLog::open(const std::filesystem::path& file) {
    close();
    DORMOUSE_TRY_ASSIGN(file_, open_file(file, O_RDWR | O_CREAT | O_APPEND, 0600));
    const auto end = ::lseek(file_.get(), 0, SEEK_END);
    offset_ = end > 0 ? static_cast<std::uint64_t>(end) : 0;
    look_again_later();
    return {};
}

void BakeLog::add(std::string_view line) {
    if (!file_) return;
    // A log that cannot be written is no reason to end a bake.
    (void)write_all(file_.get(), std::string{line} + "\n");
    read_on();
}

void BakeLog::close() {
    if (!file_) return;
    loop_.cancel_timer(timer_);
    read_on();
    if (!line_.empty() && on_line_) on_line_(line_);
    line_.clear();
    file_.reset();
}

void BakeLog::look_again_later() {
    timer_ = loop_.after(kLookEvery, [this] {
        read_on();
        look_again_later();
    });
}

void BakeLog::read_on() {
    char buffer[16 << 10];
    for (std::size_t sum = 0; sum < kMostAtOnce;) {
        const auto got = ::pread(file_.get(), buffer, sizeof buffer, static_cast<off_t>(offset_));
        if (got <= 0) return;
        offset_ += static_cast<std::uint64_t>(got);
        sum += static_cast<std::size_t>(got);
        for (const char c : std::string_view{buffer, static_cast<std::size_t>(got)}) {
            // A carriage return paints a line anew: each counts.
            if (c != '\n' && c != '\r') {
                if (line_.size() < kLongestLine) line_ += c;
            } else if (!line_.empty()) {
                if (on_line_) on_line_(line_);
                line_.clear();
            }
        }
    }
}

}  // namespace dormouse::desktop

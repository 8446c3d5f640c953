// SPDX-License-Identifier: Apache-2.0
#include "vmm/line_framer.h"

namespace dormouse::vmm {

void LineFramer::feed(std::string_view bytes) {
    if (skipping_) {
        const auto end = bytes.find('\n');
        if (end == std::string_view::npos) return;
        bytes.remove_prefix(end + 1);
        skipping_ = false;
    }
    // The limit is for each line: what is unfinished may be judged only where
    // no line feed is left in it.
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        const bool whole = end != std::string_view::npos;
        const auto piece = whole ? bytes.substr(0, end + 1) : bytes;
        if (unfinished_ + piece.size() > limit_ + (whole ? 1 : 0)) {
            buffer_.resize(buffer_.size() - unfinished_);
            unfinished_ = 0;
            ++skipped_;
            if (!whole) skipping_ = true;
        } else {
            buffer_ += piece;
            unfinished_ = whole ? 0 : unfinished_ + piece.size();
        }
        bytes.remove_prefix(piece.size());
    }
}

std::optional<std::string> LineFramer::next() {
    if (buffer_.size() - start_ == unfinished_) {
        buffer_.erase(0, start_);
        start_ = 0;
        return std::nullopt;
    }
    const auto end = buffer_.find('\n', start_);
    auto line = buffer_.substr(start_, end - start_);
    start_ = end + 1;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return line;
}

}  // namespace dormouse::vmm

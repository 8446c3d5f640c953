// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::vmm {

// Cuts a stream of bytes into lines. Holds at most one unfinished line of
// `limit` bytes plus the lines not yet taken; a longer line is skipped up to
// its end and counted, so that it cannot poison what follows it.
class LineFramer {
  public:
    explicit LineFramer(std::size_t limit) : limit_(limit) {}

    void feed(std::string_view bytes);
    // The next whole line without its CR and LF.
    std::optional<std::string> next();
    std::size_t skipped() const { return skipped_; }  // lines that were too long

  private:
    const std::size_t limit_;
    std::string buffer_;
    std::size_t start_ = 0;       // of the first line not yet taken
    std::size_t unfinished_ = 0;  // bytes at the end without a line feed
    bool skipping_ = false;       // inside a line that was too long
    std::size_t skipped_ = 0;
};

}  // namespace dormouse::vmm

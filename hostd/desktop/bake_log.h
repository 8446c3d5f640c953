// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"

namespace dormouse::desktop {

// The log of one bake: a file that the builder's tools and we add lines to, and
// that is read along, so that somebody can watch. Loop thread.
class BakeLog {
  public:
    // Called on the loop for each whole line, of ours and of the tools, in order.
    using OnLine = std::function<void(std::string_view line)>;

    BakeLog(EventLoop& loop, OnLine on_line) : loop_(loop), on_line_(std::move(on_line)) {}
    ~BakeLog() { close(); }
    BakeLog(const BakeLog&) = delete;
    BakeLog& operator=(const BakeLog&) = delete;

    Result<> open(const std::filesystem::path& file);  // makes it, or goes on at its end
    void add(std::string_view line);
    // Reads what is left, also a line without an end. The file may be moved from then on.
    void close();

  private:
    void look_again_later();
    void read_on();

    EventLoop& loop_;
    OnLine on_line_;
    UniqueFd file_;
    std::uint64_t offset_ = 0;
    std::string line_;  // as much of it as has come
    EventLoop::TimerId timer_ = 0;
};

}  // namespace dormouse::desktop

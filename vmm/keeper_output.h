// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/base/unique_fd.h"

namespace dormouse::vmm {

// What QEMU says on standard output and error: into a file of limited size,
// and the last lines in memory. A full disk costs the file, nothing else.
// Lives on the loop's thread.
class OutputLog {
  public:
    static constexpr std::size_t kLines = 20;
    static constexpr std::size_t kLineLength = 400;  // longer ones are cut

    // The file is begun anew at `limit` bytes; the one before is kept as *.1.
    OutputLog(EventLoop& loop, UniqueFd pipe, std::filesystem::path file, std::size_t limit = 1 << 20);

    std::vector<std::string> tail() const;
    void drain();  // reads what is in the pipe

  private:
    bool read_once();  // false when there is nothing (more) to read
    void add(std::string_view bytes);
    void write(std::string_view bytes);

    UniqueFd pipe_;
    const std::filesystem::path path_;
    const std::size_t limit_;
    UniqueFd file_;
    std::size_t size_ = 0;
    std::deque<std::string> lines_;
    std::string unfinished_;
    EventLoop::IoWatch watch_;
};

}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "hostd/base/event_loop.h"
#include "hostd/base/process.h"

namespace dormouse::agent {

// Keeps the first and the last half of `limit` bytes of what a program writes.
class OutputKeeper {
  public:
    explicit OutputKeeper(std::size_t limit) : half_(limit / 2) {}
    void add(std::string_view bytes);
    std::string take();  // what was kept, with a line in between that says what is missing
    std::uint64_t left_out() const { return left_out_; }

  private:
    std::size_t half_;
    std::string head_;
    std::string tail_;
    std::uint64_t left_out_ = 0;
};

struct ProgramOutcome {
    ExitStatus status;
    bool timed_out = false;
    std::string out;
    std::string err;
    std::uint64_t out_left_out = 0;  // bytes
    std::uint64_t err_left_out = 0;
};

// Runs a program in a session of its own to its end, with `input` as its
// standard input. After `timeout` its process group gets SIGTERM, two seconds
// later SIGKILL. What a child that it leaves behind writes later is not waited
// for. The loop's thread; never blocks it.
Task<Result<ProgramOutcome>> run_program(EventLoop& loop, CommandLine command, std::string input,
                                         Duration timeout);

}  // namespace dormouse::agent

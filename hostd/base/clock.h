// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace dormouse {

using Duration = std::chrono::nanoseconds;
using MonotonicTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

// Where time comes from. May be called from any thread.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual MonotonicTime now() const = 0;  // never goes back; for deadlines
    virtual WallTime wall() const = 0;      // what a calendar shows, UTC
};

class SystemClock final : public Clock {
  public:
    MonotonicTime now() const override { return std::chrono::steady_clock::now(); }
    WallTime wall() const override { return std::chrono::system_clock::now(); }
};

// Time that moves only when a test says so. For one thread.
class ManualClock final : public Clock {
  public:
    MonotonicTime now() const override { return now_; }
    WallTime wall() const override { return wall_; }
    void advance(Duration by) {
        now_ += by;
        wall_ += by;
    }
    void set_wall(WallTime wall) { wall_ = wall; }

  private:
    MonotonicTime now_{std::chrono::hours{1}};
    WallTime wall_{std::chrono::seconds{1'700'000'000}};
};

}  // namespace dormouse

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "hostd/base/clock.h"

namespace dormouse::net {

// Lets `rate` things through in a second on the long run, and `burst` at once.
class RateLimit {
  public:
    RateLimit(double rate, double burst) : rate_(rate), burst_(burst), left_(burst) {}

    bool take(MonotonicTime now) {
        if (last_ != MonotonicTime{}) {
            const std::chrono::duration<double> passed = now - last_;
            left_ = std::min(burst_, left_ + passed.count() * rate_);
        }
        last_ = now;
        if (left_ < 1) return false;
        left_ -= 1;
        return true;
    }

  private:
    const double rate_;
    const double burst_;
    double left_;
    MonotonicTime last_{};
};

}  // namespace dormouse::net

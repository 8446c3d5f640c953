// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "hostd/base/clock.h"
#include "hostd/base/config.h"

namespace dormouse::api {

// How much each token asks for: a bucket that fills with time, and a count of
// what is in progress. Core thread. Holds an entry for each token that has asked
// for something lately, and so no more than there are tokens.
class RateLimiter {
  public:
    RateLimiter(const Clock& clock, const LimitsConfig& limits) : clock_(clock), limits_(limits) {}

    // What a request is refused with.
    struct Refusal {
        std::string message;
        std::chrono::seconds retry_after;
    };
    // Counts one request in; then leave() must follow. Nothing is counted where it
    // is refused.
    std::optional<Refusal> enter(const std::string& token);
    void leave(const std::string& token);

  private:
    struct Bucket {
        double left = 0;  // requests
        MonotonicTime filled{};
        int in_progress = 0;
    };
    void forget_full_ones();

    const Clock& clock_;
    const LimitsConfig limits_;
    std::map<std::string, Bucket> buckets_;
    MonotonicTime tidied_{};
};

}  // namespace dormouse::api

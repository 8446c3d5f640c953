// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/rate_limiter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dormouse::api {

namespace {

constexpr std::chrono::minutes kTidyInterval{1};

}  // namespace

std::optional<RateLimiter::Refusal> RateLimiter::enter(const std::string& token) {
    const auto now = clock_.now();
    if (now - tidied_ >= kTidyInterval) forget_full_ones();
    const auto [entry, added] =
        buckets_.try_emplace(token, Bucket{.left = static_cast<double>(limits_.burst), .filled = now});
    auto& bucket = entry->second;
    if (limits_.concurrent > 0 && bucket.in_progress >= limits_.concurrent)
        return Refusal{fmt::format("this token has {} requests in progress", bucket.in_progress),
                       std::chrono::seconds{1}};
    if (limits_.requests_per_second > 0) {
        const std::chrono::duration<double> passed = now - bucket.filled;
        bucket.left =
            std::min<double>(limits_.burst, bucket.left + passed.count() * limits_.requests_per_second);
        bucket.filled = now;
        if (bucket.left < 1) {
            const double seconds = std::ceil((1 - bucket.left) / limits_.requests_per_second);
            return Refusal{fmt::format("this token asks for more than {} requests a second",
                                       limits_.requests_per_second),
                           std::chrono::seconds{std::max<long>(1, std::lround(std::min(seconds, 3600.0)))}};
        }
        bucket.left -= 1;
    }
    ++bucket.in_progress;
    return std::nullopt;
}

void RateLimiter::leave(const std::string& token) {
    const auto found = buckets_.find(token);
    if (found != buckets_.end() && found->second.in_progress > 0) --found->second.in_progress;
}

// A bucket that would be full by now says nothing that a new one does not.
void RateLimiter::forget_full_ones() {
    const auto now = clock_.now();
    tidied_ = now;
    std::erase_if(buckets_, [&](const auto& entry) {
        const auto& bucket = entry.second;
        const std::chrono::duration<double> passed = now - bucket.filled;
        return bucket.in_progress == 0 &&
               bucket.left + passed.count() * limits_.requests_per_second >= limits_.burst;
    });
}

}  // namespace dormouse::api

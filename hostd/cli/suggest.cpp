// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/suggest.h"

#include <algorithm>

namespace dormouse::cli {

namespace {

constexpr std::size_t kLongestTyped = 40;  // what is longer was no verb

// Optimal string alignment: insert, remove, replace, exchange two neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& words) {
    if (typed.empty() || typed.size() > kLongestTyped) return std::nullopt;
    std::optional<std::string> best;
    std::size_t best_distance = 3;
    for (const auto& word : words) {
        const bool begins = typed.size() > 1 && std::string_view{word}.starts_with(typed);
        const auto here = begins ? std::size_t{0} : distance(typed, word);
        // "a" is not "up" misspelt: something must be left of the word.
        if (here >= best_distance || here >= word.size() || here >= typed.size()) continue;
        best = word;
        best_distance = here;
    }
    return best;
}

}  // namespace dormouse::cli

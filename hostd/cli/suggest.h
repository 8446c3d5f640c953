// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

// The word that was most likely meant: one that begins so, or one that is two
// slips of the finger away at most (exchanging neighbours is one).
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& words);

}  // namespace dormouse::cli

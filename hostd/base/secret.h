// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace dormouse {

// A string that cannot be printed or compared by accident.
class Secret {
  public:
    explicit Secret(std::string value) : value_(std::move(value)) {}

    // Takes the same time wherever the first difference is.
    bool equals(std::string_view candidate) const {
        if (candidate.size() != value_.size()) return false;
        unsigned char difference = 0;
        for (std::size_t i = 0; i < value_.size(); ++i)
            difference |= static_cast<unsigned char>(value_[i] ^ candidate[i]);
        return difference == 0;
    }
    const std::string& reveal_for_transport() const { return value_; }

  private:
    std::string value_;
};

}  // namespace dormouse

template <>
struct fmt::formatter<dormouse::Secret>;  // declared, never defined

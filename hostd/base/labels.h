// SPDX-License-Identifier: Apache-2.0
// Labels: what people and programs write on desktops to find them by.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/result.h"

namespace dormouse {

inline constexpr std::size_t kMostLabels = 32;          // of one desktop
inline constexpr std::size_t kLongestLabelKey = 63;     // [a-z0-9][a-z0-9._/-]*
inline constexpr std::size_t kLongestLabelValue = 255;  // bytes of UTF-8 without control characters

using Labels = std::map<std::string, std::string, std::less<>>;

// Errc::InvalidArgument with what is wrong, without naming the field.
Result<> check_label_key(std::string_view key);
Result<> check_label_value(std::string_view value);
Result<> check_labels(const Labels& labels);

// What a desktop must have: the key, and where there is a value, that value.
struct LabelFilter {
    std::string key;
    std::optional<std::string> value;
    friend bool operator==(const LabelFilter&, const LabelFilter&) = default;
};

// "key" or "key=value"; the value may be empty and may hold further '='.
Result<LabelFilter> parse_label_filter(std::string_view text);
bool fits(const Labels& labels, const LabelFilter& filter);
bool fits(const Labels& labels, const std::vector<LabelFilter>& filters);  // all of them

// "key=value", one a line: how they are stored. What was not written by
// labels_to_text() is Errc::Corrupt.
std::string labels_to_text(const Labels& labels);
Result<Labels> labels_from_text(std::string_view text);

}  // namespace dormouse

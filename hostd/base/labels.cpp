// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/labels.h"

#include <algorithm>

#include "hostd/base/utf8.h"

namespace dormouse {

namespace {

constexpr std::string_view kKeyHint =
    "use 1 to 63 of a-z, 0-9, '.', '_', '/' and '-', beginning with a letter or a digit";

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

Result<> check_label_key(std::string_view key) {
    const bool good = !key.empty() && key.size() <= kLongestLabelKey && is_alphanumeric(key.front()) &&
                      std::all_of(key.begin(), key.end(), [](char c) {
                          return is_alphanumeric(c) || c == '.' || c == '_' || c == '/' || c == '-';
                      });
    if (good) return {};
    return fail(Errc::InvalidArgument, fmt::format("'{}' is not the key of a label", one_line(key, 80)),
                std::string{kKeyHint});
}

Result<> check_label_value(std::string_view value) {
    if (value.size() > kLongestLabelValue)
        return fail(Errc::InvalidArgument,
                    fmt::format("the value of a label has at most {} bytes", kLongestLabelValue));
    // A tab is a control character too.
    if (!is_utf8(value) || one_line(value, value.size()) != value || value.find('\t') != value.npos)
        return fail(Errc::InvalidArgument,
                    "the value of a label is one line of UTF-8 without control characters");
    return {};
}

Result<> check_labels(const Labels& labels) {
    if (labels.size() > kMostLabels)
        return fail(Errc::InvalidArgument,
                    fmt::format("a desktop has at most {} labels; these are {}", kMostLabels, labels.size()),
                    "remove some first");
    for (const auto& [key, value] : labels) {
        DORMOUSE_TRY(check_label_key(key));
        DORMOUSE_TRY(check_label_value(value));
    }
    return {};
}

Result<LabelFilter> parse_label_filter(std::string_view text) {
    const auto equals = text.find('=');
    LabelFilter filter{.key = std::string{text.substr(0, equals)}, .value = {}};
    DORMOUSE_TRY(check_label_key(filter.key));
    if (equals != std::string_view::npos) {
        filter.value = std::string{text.substr(equals + 1)};
        DORMOUSE_TRY(check_label_value(*filter.value));
    }
    return filter;
}

bool fits(const Labels& labels, const LabelFilter& filter) {
    const auto found = labels.find(filter.key);
    return found != labels.end() && (!filter.value || found->second == *filter.value);
}

bool fits(const Labels& labels, const std::vector<LabelFilter>& filters) {
    return std::all_of(filters.begin(), filters.end(),
                       [&](const LabelFilter& filter) { return fits(labels, filter); });
}

std::string labels_to_text(const Labels& labels) {
    std::string text;
    for (const auto& [key, value] : labels) text += fmt::format("{}={}\n", key, value);
    return text;
}

Result<Labels> labels_from_text(std::string_view text) {
    Labels labels;
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos) return fail(Errc::Corrupt, "labels end in the middle of a line");
        auto one = parse_label_filter(text.substr(0, end));
        if (!one || !one->value)
            return fail(Errc::Corrupt, "a label has not the form that it was written in");
        labels.insert_or_assign(std::move(one->key), std::move(*one->value));
        text.remove_prefix(end + 1);
    }
    return labels;
}

}  // namespace dormouse

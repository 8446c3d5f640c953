// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/recipe_reader.h"

#include <algorithm>

namespace dormouse::desktop {

std::optional<std::string> check_text(std::string_view text, const RecipeTextLimits& limits) {
    if (text.empty() && !limits.may_be_empty) return "must not be empty";
    if (text.size() > limits.most_bytes) return fmt::format("has more than {} bytes", limits.most_bytes);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7f) continue;
        if (limits.may_have_lines && (c == '\n' || c == '\t' || c == '\r')) continue;
        return limits.may_have_lines ? "has a control character in it"
                                     : "must be one line without control characters";
    }
    return std::nullopt;
}

int line_of(const toml::node& node) {
    return static_cast<int>(node.source().begin.line);
}

std::string quoted_for_error(std::string_view text) {
    constexpr std::size_t kMost = 60;
    std::string shown{text.substr(0, kMost)};
    for (char& c : shown)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    if (text.size() > kMost) shown += "...";
    return "'" + shown + "'";
}

const toml::node* RecipeReader::take(std::string_view key, bool required) {
    known_.emplace_back(key);
    const auto* node = table_.get(key);
    if (!node && required && !missing_)
        missing_ = Error{Errc::InvalidArgument, fmt::format("'{}{}' is missing", prefix_, key), {}, 0};
    return node;
}

void RecipeReader::text(std::string_view key, std::string& out, RecipeTextLimits limits, bool required) {
    const auto* node = take(key, required);
    if (!node) return;
    const auto* value = node->as_string();
    if (!value) return wrong_at(*node, key, "must be a text");
    if (const auto bad = check_text(value->get(), limits)) return wrong_at(*node, key, *bad);
    out = value->get();
}

void RecipeReader::number(std::string_view key, int& out, int low, int high) {
    const auto* node = take(key);
    if (!node) return;
    const auto* value = node->as_integer();
    if (value && value->get() >= low && value->get() <= high)
        out = static_cast<int>(value->get());
    else
        wrong_at(*node, key, fmt::format("must be a whole number from {} to {}", low, high));
}

void RecipeReader::list(std::string_view key, std::size_t most, const ReadItem& read) {
    const auto* node = take(key);
    if (!node) return;
    const auto* array = node->as_array();
    if (!array) return wrong_at(*node, key, "must be a list");
    if (array->size() > most) return wrong_at(*node, key, fmt::format("has more than {} entries", most));
    for (const auto& element : *array) {
        if (failed()) return;
        read(element);
    }
}

void RecipeReader::texts(std::string_view key, std::vector<std::string>& out, std::size_t most,
                         RecipeTextLimits limits) {
    list(key, most, [&](const toml::node& element) {
        const auto* value = element.as_string();
        if (!value) return wrong_at(element, key, "must be a list of texts");
        if (const auto bad = check_text(value->get(), limits))
            return wrong_at(element, key, "has an entry that " + *bad);
        out.push_back(value->get());
    });
}

const toml::table* RecipeReader::table(std::string_view key) {
    static const toml::table empty;
    const auto* node = take(key);
    if (!node) return &empty;
    if (!node->is_table()) wrong_at(*node, key, "must be a [table]");
    return node->is_table() ? node->as_table() : &empty;
}

void RecipeReader::wrong(std::string_view key, std::string_view what) {
    if (const auto* node = table_.get(key)) wrong_at(*node, key, what);
}

void RecipeReader::wrong_at(const toml::node& node, std::string_view key, std::string_view what) {
    if (error_) return;
    // Tables that only dotted keys have made stand nowhere.
    const auto line = line_of(node);
    const auto where = line > 0 ? fmt::format("line {}: ", line) : std::string{};
    error_ = Error{Errc::InvalidArgument, fmt::format("{}'{}{}' {}", where, prefix_, key, what), {}, 0};
}

void RecipeReader::take_over(std::optional<Error> error) {
    if (!error_) error_ = std::move(error);
}

std::optional<Error> RecipeReader::finish() {
    for (const auto& [key, node] : table_)
        if (std::find(known_.begin(), known_.end(), key.str()) == known_.end())
            wrong_at(node, key.str(), "is not a key of a recipe");
    return error_ ? error_ : missing_;  // a key that is written wrongly explains one that is missing
}

}  // namespace dormouse::desktop

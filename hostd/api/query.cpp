// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "hostd/schema/json.h"

namespace dormouse::api {

void QueryReader::note(std::string_view name, std::string what, std::string hint) {
    if (problem_) return;
    problem_ = Error{Errc::InvalidArgument, fmt::format("query.{}: {}", name, what), std::move(hint), 0};
}

std::optional<std::string_view> QueryReader::take(std::string_view name) {
    known_.emplace_back(name);
    const auto [begin, end] = request_.query.equal_range(name);
    if (begin == end) return std::nullopt;
    if (std::next(begin) != end) note(name, "given twice");
    return begin->second;
}

std::optional<std::string> QueryReader::text(std::string_view name) {
    const auto value = take(name);
    if (!value) return std::nullopt;
    if (value->empty()) note(name, "is empty", "leave it out, or give it a value");
    return std::string{*value};
}

std::vector<std::string> QueryReader::all(std::string_view name) {
    known_.emplace_back(name);
    std::vector<std::string> values;
    const auto [begin, end] = request_.query.equal_range(name);
    for (auto at = begin; at != end; ++at) values.push_back(at->second);
    return values;
}

namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
    T value{};
    const auto* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

}  // namespace

std::optional<std::int64_t> QueryReader::whole(std::string_view name, std::int64_t least, std::int64_t most) {
    const auto text = take(name);
    if (!text) return std::nullopt;
    const auto value = parse_number<std::int64_t>(*text);
    if (value && *value >= least && *value <= most) return value;
    note(name, fmt::format("must be a whole number from {} to {}", least, most));
    return std::nullopt;
}

std::optional<double> QueryReader::number(std::string_view name, double least, double most) {
    const auto text = take(name);
    if (!text) return std::nullopt;
    const auto value = parse_number<double>(*text);
    // Said so that NaN is refused too.
    if (value && *value >= least && *value <= most) return value;
    note(name, fmt::format("must be a number from {} to {}", least, most));
    return std::nullopt;
}

std::optional<bool> QueryReader::flag(std::string_view name) {
    const auto text = take(name);
    if (!text) return std::nullopt;
    if (text->empty() || *text == "true" || *text == "1") return true;
    if (*text == "false" || *text == "0") return false;
    note(name, "must be true or false");
    return std::nullopt;
}

std::optional<std::string> QueryReader::word(std::string_view name,
                                             std::initializer_list<std::string_view> words) {
    const auto text = take(name);
    if (!text) return std::nullopt;
    if (std::find(words.begin(), words.end(), *text) == words.end())
        note(name, fmt::format("'{}' is not known", schema::shown(*text)),
             fmt::format("one of: {}", fmt::join(words, ", ")));
    return std::string{*text};
}

Result<> QueryReader::finish() {
    // One that nobody knows comes first: it is most often another, misspelt.
    for (const auto& [name, value] : request_.query) {
        if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
        return fail(Errc::InvalidArgument, fmt::format("query.{}: unknown parameter", schema::shown(name)),
                    known_.empty() ? "nothing is taken from the query"
                                   : fmt::format("parameters: {}", fmt::join(known_, ", ")));
    }
    if (problem_) return fail(*problem_);
    return {};
}

Result<> no_query(const wsio::HttpRequest& request) {
    return QueryReader{request}.finish();
}

}  // namespace dormouse::api

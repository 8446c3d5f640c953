// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/reader.h"

#include <algorithm>

#include "hostd/schema/time.h"

namespace dormouse::schema {

namespace {

const Json kEmptyObject = Json::object();

std::string join(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
    return text.empty() ? "none" : text;
}

}  // namespace

void Problem::note(std::string path, std::string what, std::string hint) {
    if (error_) return;
    const auto code = strictness_ == Strictness::Request ? Errc::InvalidArgument : Errc::Corrupt;
    error_ =
        Error{code, (path.empty() ? "body" : std::move(path)) + ": " + std::move(what), std::move(hint), 0};
}

void Problem::note_missing(std::string path, std::string hint) {
    if (error_) return;
    note(std::move(path), "missing", std::move(hint));
    only_missing_ = true;
}

void Problem::note_unknown(std::string path, std::string hint) {
    if (only_missing_) error_.reset();
    only_missing_ = false;
    note(std::move(path), "unknown field", std::move(hint));
}

ObjectReader::ObjectReader(const Json& json, std::string path, Problem& problem)
    : json_(json.is_object() ? json : kEmptyObject), path_(std::move(path)), problem_(problem) {
    if (!json.is_object()) problem_.note(path_, "must be a JSON object");
}

void ObjectReader::finish() {
    if (strictness() != Strictness::Request) return;
    for (const auto& [name, value] : json_.items())
        if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) {
            problem_.note_unknown(path_of(shown(name)), subject_ + ": " + join(asked_));
            return;
        }
}

std::string ObjectReader::path_of(std::string_view field) const {
    return path_.empty() ? std::string{field} : fmt::format("{}.{}", path_, field);
}

void ObjectReader::note(std::string_view field, std::string what, std::string hint) {
    problem_.note(path_of(field), std::move(what), std::move(hint));
}

bool ObjectReader::may_have(std::string_view field) {
    if (std::find(asked_.begin(), asked_.end(), field) == asked_.end()) asked_.emplace_back(field);
    return has(field);
}

const Json* ObjectReader::take(std::string_view field) {
    may_have(field);
    const auto found = json_.find(field);
    return found == json_.end() ? nullptr : &*found;
}

const Json* ObjectReader::take_unless_null(std::string_view field) {
    const auto* found = take(field);
    return found && found->is_null() ? nullptr : found;
}

const Json* ObjectReader::need(std::string_view field, const std::string& hint) {
    const auto* found = take(field);
    if (!found) problem_.note_missing(path_of(field), hint);
    return found;
}

std::string ObjectReader::text(std::string_view field, TextLimits limits, std::string hint) {
    const auto* found = need(field, hint);
    if (!found) return {};
    if (!found->is_string()) {
        note(field, "must be a string", std::move(hint));
        return {};
    }
    const auto& text = found->get_ref<const std::string&>();
    if (strictness() == Strictness::Answer) return text;
    if (text.empty() && !limits.may_be_empty) note(field, "must not be empty", std::move(hint));
    if (text.size() > limits.most_bytes) note(field, fmt::format("longer than {} bytes", limits.most_bytes));
    if (text.find('\0') != std::string::npos) note(field, "must not contain the character U+0000");
    return text;
}

std::optional<std::string> ObjectReader::optional_text(std::string_view field) {
    const auto* found = take_unless_null(field);
    if (!found) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    note(field, "must be a string");
    return std::nullopt;
}

std::int64_t ObjectReader::whole(std::string_view field, Range range, std::string hint) {
    const auto* found = need(field, hint);
    if (!found) return range.least;
    const bool fits = found->is_number_unsigned()
                          ? found->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                          : found->is_number_integer();
    const auto value = fits ? found->get<std::int64_t>() : range.least;
    if (!fits || value < range.least || value > range.most)
        note(field, fmt::format("must be a whole number from {} to {}", range.least, range.most),
             std::move(hint));
    return value;
}

std::optional<std::int64_t> ObjectReader::optional_whole(std::string_view field, Range range) {
    const auto found = json_.find(field);
    if (found == json_.end() || found->is_null()) {
        take(field);
        return std::nullopt;
    }
    return whole(field, range);
}

double ObjectReader::number(std::string_view field, double least, double most, std::string hint) {
    const auto* found = need(field, hint);
    if (!found) return least;
    const auto value = found->is_number() ? found->get<double>() : least - 1;
    if (value >= least && value <= most) return value;
    note(field, fmt::format("must be a number from {} to {}", least, most), std::move(hint));
    return least;
}

bool ObjectReader::boolean(std::string_view field) {
    const auto* found = need(field, {});
    if (!found) return false;
    if (found->is_boolean()) return found->get<bool>();
    note(field, "must be true or false");
    return false;
}

WallTime ObjectReader::time(std::string_view field) {
    const auto value = optional_time(field);
    if (!value) problem_.note_missing(path_of(field), {});
    return value.value_or(WallTime{});
}

std::optional<WallTime> ObjectReader::optional_time(std::string_view field) {
    const auto* found = take_unless_null(field);
    if (!found) return std::nullopt;
    if (!found->is_string()) {
        note(field, "must be a time");
        return std::nullopt;
    }
    auto time = parse_time(found->get_ref<const std::string&>());
    if (time) return *time;
    note(field, time.error().message, time.error().hint);
    return std::nullopt;
}

std::string ObjectReader::word(std::string_view field, std::initializer_list<std::string_view> words) {
    std::vector<std::string> known{words.begin(), words.end()};
    const auto hint = "one of: " + join(known);
    auto value = text(field, {.most_bytes = 1000, .may_be_empty = true}, hint);
    if (!problem_.any() && std::find(known.begin(), known.end(), value) == known.end())
        note(field, fmt::format("'{}' is not known", shown(value)), hint);
    return value;
}

void ObjectReader::object(std::string_view field, const std::function<void(ObjectReader&)>& body) {
    const auto* found = need(field, {});
    if (!found) return;
    ObjectReader in{*found, path_of(field), problem_};
    if (!found->is_object()) return;
    body(in);
    in.finish();
}

void ObjectReader::optional_object(std::string_view field, const std::function<void(ObjectReader&)>& body) {
    const auto found = json_.find(field);
    if (found == json_.end() || found->is_null()) {
        take(field);
        return;
    }
    object(field, body);
}

void ObjectReader::list(std::string_view field, Range count,
                        const std::function<void(const Json&, std::string)>& body) {
    const auto* found = need(field, {});
    if (!found) return;
    if (!found->is_array()) return note(field, "must be a list");
    const auto size = static_cast<std::int64_t>(found->size());
    if (size < count.least || size > count.most)
        return note(field,
                    fmt::format("must have {} to {} items, and has {}", count.least, count.most, size));
    std::size_t index = 0;
    for (const auto& item : *found) body(item, fmt::format("{}[{}]", path_of(field), index++));
}

}  // namespace dormouse::schema

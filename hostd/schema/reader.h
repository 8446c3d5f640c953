// SPDX-License-Identifier: Apache-2.0
// How the codecs of this folder read objects. Not for others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/result.h"
#include "hostd/schema/json.h"

namespace dormouse::schema {

enum class Strictness { Request, Answer };

// The first thing that was wrong with a document. A field that nobody knows
// comes before one that is missing: it is most often that field, misspelt.
class Problem {
  public:
    explicit Problem(Strictness strictness) : strictness_(strictness) {}
    Strictness strictness() const { return strictness_; }
    void note(std::string path, std::string what, std::string hint = {});
    void note_missing(std::string path, std::string hint);
    void note_unknown(std::string path, std::string hint);
    bool any() const { return error_.has_value(); }
    Error take() { return std::move(*error_); }

  private:
    Strictness strictness_;
    std::optional<Error> error_;
    bool only_missing_ = false;
};

struct Range {
    std::int64_t least;
    std::int64_t most;
};
struct TextLimits {
    std::size_t most_bytes = 100'000;
    bool may_be_empty = true;
};

// Reads the fields of one object. What is wrong is noted in the Problem and a
// default comes back, so that a codec reads from top to bottom without checks;
// its value counts only when the Problem stayed empty. At finish(), a field of
// a request that nobody asked for is a problem.
class ObjectReader {
  public:
    ObjectReader(const Json& json, std::string path, Problem& problem);
    ObjectReader(const ObjectReader&) = delete;
    ObjectReader& operator=(const ObjectReader&) = delete;

    void finish();

    // Said in front of the list of fields when one is unknown: "left_click takes".
    void set_subject(std::string subject) { subject_ = std::move(subject); }

    bool has(std::string_view field) const { return json_.contains(field); }
    bool may_have(std::string_view field);  // as has(); names it among the fields there are
    std::string text(std::string_view field, TextLimits limits = {}, std::string hint = {});
    std::optional<std::string> optional_text(std::string_view field);  // null is absent
    std::int64_t whole(std::string_view field, Range range, std::string hint = {});
    std::optional<std::int64_t> optional_whole(std::string_view field, Range range);  // null is absent
    double number(std::string_view field, double least, double most, std::string hint);
    bool boolean(std::string_view field);
    WallTime time(std::string_view field);
    std::optional<WallTime> optional_time(std::string_view field);  // null is absent
    // One of a few words.
    std::string word(std::string_view field, std::initializer_list<std::string_view> words);

    void object(std::string_view field, const std::function<void(ObjectReader&)>& body);
    void optional_object(std::string_view field, const std::function<void(ObjectReader&)>& body);
    // `body` for each item, with the item's path.
    void list(std::string_view field, Range count, const std::function<void(const Json&, std::string)>& body);

    const Json* take(std::string_view field);  // null when absent; counts as asked for
    const Json* take_unless_null(std::string_view field);
    std::string path_of(std::string_view field) const;
    void note(std::string_view field, std::string what, std::string hint = {});
    Problem& problem() { return problem_; }
    Strictness strictness() const { return problem_.strictness(); }

  private:
    const Json* need(std::string_view field, const std::string& hint);

    const Json& json_;
    std::string path_;
    Problem& problem_;
    std::string subject_ = "fields";
    std::vector<std::string> asked_;
};

template <class T, class Body>
Result<T> read_document(Result<Json> json, Strictness strictness, Body body) {
    if (!json) return tl::make_unexpected(json.error());
    Problem problem{strictness};
    T value = [&] {
        ObjectReader in{*json, "", problem};
        T read = body(in);
        in.finish();
        return read;
    }();
    if (problem.any()) return fail(problem.take());
    return value;
}

template <class T, class Body>
Result<T> read_request(std::string_view text, Body body) {
    return read_document<T>(read_strictly(text), Strictness::Request, body);
}

template <class T, class Body>
Result<T> read_answer(std::string_view text, Body body) {
    return read_document<T>(read_leniently(text), Strictness::Answer, body);
}

}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/json.h"

#include <set>
#include <vector>

namespace dormouse::schema {

namespace {

// Walks the text before anything is built from it: finds what a document does
// not show any more (the same field twice) or must not be built (too deep).
class Inspector final : public nlohmann::json_sax<Json> {
  public:
    Inspector(std::size_t deepest, bool allow_duplicates)
        : deepest_(deepest), allow_duplicates_(allow_duplicates) {}

    const std::string& problem() const { return problem_; }

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t) override { return value(); }
    bool number_unsigned(number_unsigned_t) override { return value(); }
    bool number_float(number_float_t, const string_t&) override { return value(); }
    bool string(string_t&) override { return value(); }
    bool binary(binary_t&) override { return value(); }
    bool start_object(std::size_t) override { return open(false); }
    bool start_array(std::size_t) override { return open(true); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        auto& level = levels_.back();
        level.field = name;
        if (level.seen.size() >= kMostFields) {
            problem_ = fmt::format("body: an object with more than {} fields", kMostFields);
            return false;
        }
        if (level.seen.insert(name).second || allow_duplicates_) return true;
        problem_ = path() + ": given twice";
        return false;
    }

    bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
        // 406: a number that no double holds.
        problem_ = error.id == 406
                       ? fmt::format("body: the number that ends at byte {} is too large", position)
                       : fmt::format("body: not valid JSON at byte {}", position);
        return false;
    }

  private:
    struct Level {
        bool list = false;
        std::size_t index = 0;
        std::string field;
        std::set<std::string> seen;
    };

    bool value() {
        if (!levels_.empty() && levels_.back().list) ++levels_.back().index;
        return true;
    }
    bool open(bool list) {
        if (levels_.size() >= deepest_) {
            problem_ = fmt::format("body: nested deeper than {} levels", deepest_);
            return false;
        }
        levels_.push_back({list, 0, {}, {}});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return value();
    }
    std::string path() const {
        std::string text;
        for (const auto& level : levels_) {
            if (level.list)
                text += fmt::format("[{}]", level.index);
            else
                text += (text.empty() ? "" : ".") + shown(level.field);
        }
        return text;
    }

    std::size_t deepest_;
    bool allow_duplicates_;
    std::vector<Level> levels_;
    std::string problem_;
};

}  // namespace

Result<Json> read_strictly(std::string_view text) {
    if (text.size() > kLongestRequest)
        return fail(Errc::TooLarge, fmt::format("body: longer than {} bytes", kLongestRequest));
    Inspector inspector{kDeepestRequest, false};
    if (!Json::sax_parse(text, &inspector)) return fail(Errc::InvalidArgument, inspector.problem());
    return Json::parse(text, nullptr, false);
}

Result<Json> read_leniently(std::string_view text) {
    Inspector inspector{kDeepestAnswer, true};
    if (!Json::sax_parse(text, &inspector)) return fail(Errc::Corrupt, inspector.problem());
    return Json::parse(text, nullptr, false);
}

std::string write_json(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shown(std::string_view text) {
    constexpr std::size_t kLongest = 40;
    std::string out{text.substr(0, kLongest)};
    // Not in the middle of a character.
    if (text.size() > kLongest) {
        while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
        if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0x80) out.pop_back();
        out += "...";
    }
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return out;
}

}  // namespace dormouse::schema

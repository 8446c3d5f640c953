// SPDX-License-Identifier: Apache-2.0
// How recipe*.cpp read TOML tables. Not for others.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/result.h"
#include "hostd/base/toml.h"

namespace dormouse::desktop {

struct RecipeTextLimits {
    std::size_t most_bytes = 500;
    bool may_be_empty = false;
    bool may_have_lines = false;  // line breaks and tabs; of other control characters there is never one
};

// Where a value stands in the text, counting from 1; 0 when it is not there.
int line_of(const toml::node& node);
// What is wrong with a text, if anything.
std::optional<std::string> check_text(std::string_view text, const RecipeTextLimits& limits);
std::string quoted_for_error(std::string_view text);  // printable, at most 60 characters

// Reads one table and remembers the first thing that is wrong with it, with its
// line. What is wrong leaves `out` as it was, so that a caller reads from top to
// bottom and asks once, at finish(). Borrows the table.
class RecipeReader {
  public:
    using ReadItem = std::function<void(const toml::node&)>;  // notes here what is wrong

    RecipeReader(const toml::table& table, std::string prefix) : table_(table), prefix_(std::move(prefix)) {}

    bool has(std::string_view key) const { return table_.contains(key); }
    void text(std::string_view key, std::string& out, RecipeTextLimits limits = {}, bool required = false);
    void number(std::string_view key, int& out, int low, int high);
    void texts(std::string_view key, std::vector<std::string>& out, std::size_t most,
               RecipeTextLimits limits = {});
    // `read` for each element of a list, up to the first that is wrong.
    void list(std::string_view key, std::size_t most, const ReadItem& read);
    const toml::table* table(std::string_view key);  // an empty one when it is absent
    const toml::node* take(std::string_view key, bool required = false);

    // Notes that something is wrong with the value of `key`.
    void wrong(std::string_view key, std::string_view what);
    void wrong_at(const toml::node& node, std::string_view key, std::string_view what);
    // Takes over what was found wrong below, in a table of this one.
    void take_over(std::optional<Error> error);

    bool failed() const { return error_.has_value(); }
    // To be called last: what nobody asked for is an error.
    std::optional<Error> finish();

  private:
    const toml::table& table_;
    std::string prefix_;
    std::vector<std::string> known_;
    std::optional<Error> error_;
    std::optional<Error> missing_;
};

}  // namespace dormouse::desktop

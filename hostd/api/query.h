// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/result.h"
#include "hostd/wsio/http_message.h"

namespace dormouse::api {

// Reads the parameters of a request's query as strictly as bodies are read. What
// is wrong is noted and a default comes back, so that a route reads from top to
// bottom; finish() gives the first problem, and refuses what nobody asked for.
// The request must outlive it.
//
//   QueryReader query{request};
//   const auto limit = query.whole("limit", 1, 1000).value_or(100);
//   DORMOUSE_TRY(query.finish());
class QueryReader {
  public:
    explicit QueryReader(const wsio::HttpRequest& request) : request_(request) {}

    std::optional<std::string> text(std::string_view name);  // not empty
    std::vector<std::string> all(std::string_view name);     // of one that may come several times
    std::optional<std::int64_t> whole(std::string_view name, std::int64_t least, std::int64_t most);
    std::optional<double> number(std::string_view name, double least, double most);
    std::optional<bool> flag(std::string_view name);  // true, false, 1, 0; "?name" alone is true
    std::optional<std::string> word(std::string_view name, std::initializer_list<std::string_view> words);

    void note(std::string_view name, std::string what, std::string hint = {});
    Result<> finish();

  private:
    std::optional<std::string_view> take(std::string_view name);

    const wsio::HttpRequest& request_;
    std::vector<std::string> known_;
    std::optional<Error> problem_;
};

// For what takes no parameters.
Result<> no_query(const wsio::HttpRequest& request);

}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "hostd/base/result.h"

namespace dormouse::agent {

// Takes the fields of a request one by one; done() refuses those that nobody took.
class Params {
  public:
    explicit Params(nlohmann::json body) : body_(std::move(body)) {}

    Result<std::string> text(const char* name, std::size_t limit);
    Result<std::int64_t> integer(const char* name, std::int64_t low, std::int64_t high);
    const nlohmann::json* take(const char* name);  // null when absent
    Result<> done() const;

    static tl::unexpected<Error> wrong(const char* name, const char* what) {
        return fail(Errc::InvalidArgument, fmt::format("\"{}\" must be {}", name, what));
    }

  private:
    nlohmann::json body_;
    std::set<std::string> taken_;
};

}  // namespace dormouse::agent

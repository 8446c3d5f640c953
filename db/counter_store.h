// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "db/database.h"
#include "hostd/base/result.h"

namespace dormouse::db {

// Numbers that only grow, from one daemon to the next. On the `store` thread.
class CounterStore {
  public:
    static Result<CounterStore> open(Database& database);

    // Sets `count` numbers aside: gives the one before the first of them, which is
    // at least `at_least`. None of them is given again.
    Result<std::int64_t> reserve(std::string_view name, std::int64_t at_least, std::int64_t count);

  private:
    explicit CounterStore(Statement reserve) : reserve_(std::move(reserve)) {}

    Statement reserve_;
};

}  // namespace dormouse::db

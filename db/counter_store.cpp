// SPDX-License-Identifier: Apache-2.0
#include "db/counter_store.h"

#include "db/handles.h"

namespace dormouse::db {

namespace {

constexpr std::string_view kReserve =
    "INSERT INTO counters (name, value) VALUES (?1, ?2 + ?3)"
    " ON CONFLICT (name) DO UPDATE SET value = max(value, ?2) + ?3 RETURNING value - ?3";

}  // namespace

Result<CounterStore> CounterStore::open(Database& database) {
    DORMOUSE_TRY_ASSIGN(auto reserve, database.prepare(kReserve));
    return CounterStore{std::move(reserve)};
}

Result<std::int64_t> CounterStore::reserve(std::string_view name, std::int64_t at_least, std::int64_t count) {
    Query query{reserve_, "set numbers aside"};
    query.text(name).number(at_least).number(count);
    DORMOUSE_TRY(query.step());
    const auto before = query.number_at(0);
    DORMOUSE_TRY(query.run());
    return before;
}

}  // namespace dormouse::db

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hostd/base/result.h"

namespace dormouse::desktop {

// Where a list goes on: behind the item with this place in the order. It stays
// good when items come and go. For callers it is an opaque word, so that the
// order may change.
struct Cursor {
    std::int64_t number = 0;
    std::string name;
    friend bool operator==(const Cursor&, const Cursor&) = default;
};

// `list` is one letter for each kind of list; one of another list is refused.
std::string encode_cursor(char list, const Cursor& cursor);
Result<Cursor> decode_cursor(char list, std::string_view text);  // Errc::InvalidArgument

}  // namespace dormouse::desktop

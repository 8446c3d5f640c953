// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "hostd/base/result.h"

namespace dormouse::schema {

// Reads one JSON document. The structs below declare which T there are, and
// each has a `std::string to_json(const T&)` beside it. Any thread.
//
// A request is read strictly: what is unknown, missing, of the wrong type, out
// of range or given twice is Errc::InvalidArgument, with a message that begins
// with the path of the field ("actions[2].coordinate: ..."). A body beyond
// kLongestRequest is Errc::TooLarge.
//
// An answer is read leniently, so that a client understands a newer server:
// unknown fields are passed over. What cannot be understood is Errc::Corrupt.
template <class T>
Result<T> parse(std::string_view text);

}  // namespace dormouse::schema

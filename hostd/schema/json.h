// SPDX-License-Identifier: Apache-2.0
// JSON text to a document and back. For the codecs of this folder; adapters
// and clients use the structs.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hostd/base/result.h"

namespace dormouse::schema {

using Json = nlohmann::ordered_json;  // fields are written in the order of the document

constexpr std::size_t kLongestRequest = 1 << 20;  // bytes
constexpr std::size_t kDeepestRequest = 16;       // objects and lists inside each other
constexpr std::size_t kDeepestAnswer = 64;
// Fields of one object: looking one up takes time in proportion.
constexpr std::size_t kMostFields = 256;

// One JSON text of valid UTF-8. Errors: TooLarge beyond kLongestRequest;
// InvalidArgument when it is no JSON, is nested deeper than kDeepestRequest, has
// more than kMostFields fields in one object or one of them twice.
Result<Json> read_strictly(std::string_view text);

// The same without a limit of length, and the last of two equal fields counts.
// Errc::Corrupt.
Result<Json> read_leniently(std::string_view text);

// Never fails: bytes that are not UTF-8 are replaced by U+FFFD.
std::string write_json(const Json& json);

// Text from outside, fit to be shown in a message: quoted, without control
// characters, cut to a length that can be read.
std::string shown(std::string_view text);

}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "hostd/wsio/http_message.h"

namespace dormouse::wsio {

// What a request is for: HttpRequest::path and ::query.
struct HttpTarget {
    std::string path;
    std::map<std::string, std::string, std::less<>> query;
};

// Takes the second word of a request line: "/a/b?c=d" or "http://host/a/b?c=d".
// Refuses whatever could name two things (see HttpRequest::path).
tl::expected<HttpTarget, HttpFault> parse_target(std::string_view target);

bool is_utf8(std::string_view text);

}  // namespace dormouse::wsio

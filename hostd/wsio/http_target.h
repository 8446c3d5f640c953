// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "hostd/wsio/http_message.h"

namespace dormouse::wsio {

// What a request is for: HttpRequest::path and ::query.
struct HttpTarget {
    std::string path;
    Query query;
};

// Takes the second word of a request line: "/a/b?c=d" or "http://host/a/b?c=d".
// Refuses whatever could name two things (see HttpRequest::path).
tl::expected<HttpTarget, HttpFault> parse_target(std::string_view target);

}  // namespace dormouse::wsio

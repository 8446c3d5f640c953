// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hostd/base/clock.h"
#include "hostd/base/result.h"
#include "hostd/wsio/http_message.h"

namespace dormouse::wsio {

struct ClientRequest {
    std::string method = "GET";
    std::string url;  // http://host[:port]/path?query; already percent-encoded
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    Duration timeout = std::chrono::seconds{30};  // for all of it
    std::size_t response_limit = 64 << 20;        // bytes of the body
    // Where it is set, the body of a success is given to it as it comes, and not
    // kept; the time-out is then for each silence. False from it ends the request.
    std::function<bool(std::string_view)> on_body{};
};

struct ClientResponse {
    int status = 0;
    Headers headers;
    std::string body;
};

// One request on a connection of its own, for programs that have nothing else
// to do: blocks until the answer, plain sockets, no proxies, no redirects. Any
// status is a success here. Any thread. Resolving a name is not covered by the
// time-out.
//
// Errors: InvalidArgument (URL, header), Unavailable (cannot connect), Timeout,
// Interrupted (the server went away before the whole answer), TooLarge, Corrupt
// (not HTTP).
Result<ClientResponse> http_request(const ClientRequest& request);

// "%2F" and the like: for one segment of a path or one value of a query.
std::string percent_encode(std::string_view text);

}  // namespace dormouse::wsio

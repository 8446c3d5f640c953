// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::wsio {

class BodyStream;  // body_stream.h

// Header names are lower case. A header that came several times has its values
// joined by ", "; those for which that would be a trick (Content-Length, Host,
// Authorization, ...) are refused with 400 before anybody sees them.
using Headers = std::map<std::string, std::string, std::less<>>;

// Decoded names and values of a query; a name may come several times, and its
// values keep their order.
using Query = std::multimap<std::string, std::string, std::less<>>;

// The value, or empty.
std::string_view find_header(const Headers& headers, std::string_view lower_case_name);

// One whole request, as it reaches a handler. Plain values.
struct HttpRequest {
    std::string method;  // as sent: "GET"; unknown ones come through too
    // Percent-decoded, begins with "/". It is valid UTF-8 without control
    // characters, has no empty, "." or ".." segment, and no "/" that was "%2F".
    // A "/" at the end is kept.
    std::string path;
    Query query;
    Headers headers;
    std::string body;
    std::string remote;  // "127.0.0.1:54321", "[::1]:54321"
};

// An answer. The body is shared, so that a cached picture is not copied.
struct HttpResponse {
    int status = 200;
    // Any case, in this order. Content-Length, Connection, Date and the security
    // headers are added; Cache-Control (no-store) and X-Content-Type-Options
    // (nosniff) only where they are not given here.
    std::vector<std::pair<std::string, std::string>> headers;
    std::shared_ptr<const std::string> body;  // null: empty
    // In place of body: sent as it is written, until its end or the client's.
    std::shared_ptr<BodyStream> stream{};

    static HttpResponse text(int status, std::string content_type, std::string body);
    static HttpResponse json(int status, std::string body) {
        return text(status, "application/json", std::move(body));
    }
};

// A request that breaks the protocol: what the client is told. The message goes
// into JSON as it is: no quotes, no backslashes, nothing the client sent.
struct HttpFault {
    int status = 400;
    std::string_view message;
};

// {"error":{"code":...,"message":...,"hint":""}}, the shape of every API error.
HttpResponse fault_response(const HttpFault& fault);

std::string_view reason_phrase(int status);

// How the end of a body is told.
enum class Ending { Length, Chunked, Close };

// Status line and headers, with the empty line. A header of ours that would
// split the answer (a line break in it) gives nothing: the caller sends 500.
std::string serialize_head(const HttpResponse& response, int version_minor, bool keep_alive,
                           Ending ending = Ending::Length);

}  // namespace dormouse::wsio

// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/http_message.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "hostd/base/result.h"

namespace dormouse::wsio {

namespace {

Errc errc_of(int status) {
    switch (status) {
        case 408:
            return Errc::Timeout;
        case 413:
        case 431:
            return Errc::TooLarge;
        case 500:
            return Errc::Internal;
        case 503:
            return Errc::Unavailable;
        default:
            return Errc::InvalidArgument;
    }
}

bool is_clean(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

bool equal_names(std::string_view left, std::string_view right) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace

std::string_view find_header(const Headers& headers, std::string_view lower_case_name) {
    const auto found = headers.find(lower_case_name);
    return found == headers.end() ? std::string_view{} : found->second;
}

HttpResponse HttpResponse::text(int status, std::string content_type, std::string body) {
    return {.status = status,
            .headers = {{"Content-Type", std::move(content_type)}},
            .body = std::make_shared<const std::string>(std::move(body))};
}

HttpResponse fault_response(const HttpFault& fault) {
    return HttpResponse::json(fault.status,
                              fmt::format(R"({{"error":{{"code":"{}","message":"{}","hint":""}}}})",
                                          errc_name(errc_of(fault.status)), fault.message));
}

std::string_view reason_phrase(int status) {
    static constexpr std::pair<int, std::string_view> kReasons[] = {{200, "OK"},
                                                                    {201, "Created"},
                                                                    {202, "Accepted"},
                                                                    {204, "No Content"},
                                                                    {301, "Moved Permanently"},
                                                                    {302, "Found"},
                                                                    {304, "Not Modified"},
                                                                    {400, "Bad Request"},
                                                                    {401, "Unauthorized"},
                                                                    {403, "Forbidden"},
                                                                    {404, "Not Found"},
                                                                    {405, "Method Not Allowed"},
                                                                    {408, "Request Timeout"},
                                                                    {409, "Conflict"},
                                                                    {412, "Precondition Failed"},
                                                                    {413, "Content Too Large"},
                                                                    {415, "Unsupported Media Type"},
                                                                    {417, "Expectation Failed"},
                                                                    {429, "Too Many Requests"},
                                                                    {431, "Request Header Fields Too Large"},
                                                                    {500, "Internal Server Error"},
                                                                    {501, "Not Implemented"},
                                                                    {502, "Bad Gateway"},
                                                                    {503, "Service Unavailable"},
                                                                    {504, "Gateway Timeout"},
                                                                    {505, "HTTP Version Not Supported"}};
    for (const auto& [number, reason] : kReasons)
        if (number == status) return reason;
    return "Status";
}

std::string serialize_head(const HttpResponse& response, int version_minor, bool keep_alive, Ending ending) {
    std::string head =
        fmt::format("HTTP/1.{} {} {}\r\n", version_minor, response.status, reason_phrase(response.status));
    bool has_cache_control = false;
    bool has_type_options = false;
    for (const auto& [name, value] : response.headers) {
        if (name.empty() || !is_clean(name) || !is_clean(value)) return {};
        has_cache_control |= equal_names(name, "cache-control");
        has_type_options |= equal_names(name, "x-content-type-options");
        head += fmt::format("{}: {}\r\n", name, value);
    }
    head += fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", fmt::gmtime(std::time(nullptr)));
    if (!has_cache_control) head += "Cache-Control: no-store\r\n";
    if (!has_type_options) head += "X-Content-Type-Options: nosniff\r\n";
    // 204 and 304 have no body, and a length would be that of another answer.
    if (ending == Ending::Chunked)
        head += "Transfer-Encoding: chunked\r\n";
    else if (ending == Ending::Length && response.status != 204 && response.status != 304)
        head += fmt::format("Content-Length: {}\r\n", response.body ? response.body->size() : 0);
    head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
    return head;
}

}  // namespace dormouse::wsio

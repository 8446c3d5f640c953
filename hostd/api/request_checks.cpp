// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/request_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "hostd/schema/json.h"

namespace dormouse::api {

namespace {

constexpr std::size_t kLongestToken = 200;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

bool equal_words(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

// The characters that RFC 6750 allows.
bool is_token_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"-._~+/="}.find(c) != std::string_view::npos;
}

}  // namespace

Result<std::string> bearer_token(const wsio::HttpRequest& request) {
    constexpr std::string_view kScheme = "Bearer ";
    const auto value = wsio::find_header(request.headers, "authorization");
    if (value.size() < kScheme.size() || !equal_words(value.substr(0, kScheme.size()), kScheme))
        return fail(Errc::Unauthenticated, "this needs a token",
                    "send it as a header: Authorization: Bearer dm_...");
    const auto token = trim(value.substr(kScheme.size()));
    if (token.empty() || token.size() > kLongestToken ||
        !std::all_of(token.begin(), token.end(), is_token_character))
        return fail(unknown_token());
    return std::string{token};
}

Error unknown_token() {
    return {Errc::Unauthenticated, "this token is not known", "make one with: ./dormouse token create NAME",
            0};
}

Result<> check_origin(const wsio::HttpRequest& request) {
    if (request.method == "GET" || request.method == "HEAD") return {};
    const auto origin = wsio::find_header(request.headers, "origin");
    if (origin.empty()) return {};
    const auto host = wsio::find_header(request.headers, "host");
    for (const std::string_view scheme : {"http://", "https://"})
        if (!host.empty() && equal_words(origin.substr(0, scheme.size()), scheme) &&
            equal_words(origin.substr(scheme.size()), host))
            return {};
    return fail(Errc::Denied, fmt::format("pages of {} may not do this", schema::shown(origin)),
                "requests that change something are taken from this server's own pages and from programs");
}

Result<> check_content_type(const wsio::HttpRequest& request) {
    const auto value = wsio::find_header(request.headers, "content-type");
    if (request.body.empty() || value.empty()) return {};
    if (equal_words(trim(value.substr(0, value.find(';'))), "application/json")) return {};
    return fail(Errc::InvalidArgument,
                fmt::format("Content-Type: {} is not understood", schema::shown(value)),
                "send JSON with Content-Type: application/json; with curl: --json instead of -d");
}

}  // namespace dormouse::api

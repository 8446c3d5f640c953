// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/http_target.h"

#include <algorithm>
#include <optional>

#include "hostd/base/utf8.h"

namespace dormouse::wsio {

namespace {

auto refuse(std::string_view message) {
    return tl::make_unexpected(HttpFault{400, message});
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Nothing for a bad escape, a character that must not be in a URL, a control
// character or bytes that are not UTF-8.
std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            if (text.size() - i < 3) return std::nullopt;
            const int high = hex_value(text[i + 1]);
            const int low = hex_value(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (static_cast<unsigned char>(c) >= 0x7f || c == ' ' || c == '#') {
            return std::nullopt;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (is_control(c)) return std::nullopt;
        out.push_back(c);
    }
    if (!is_utf8(out)) return std::nullopt;
    return out;
}

// Whether a path, decoded or not, has a segment that is empty or walks.
bool has_odd_segment(std::string_view path) {
    std::size_t begin = 1;  // behind the first '/'
    while (begin <= path.size()) {
        const auto end = std::min(path.find('/', begin), path.size());
        const auto segment = path.substr(begin, end - begin);
        const bool last = end == path.size();
        if (segment == "." || segment == ".." || (segment.empty() && !last)) return true;
        begin = end + 1;
    }
    return false;
}

tl::expected<Query, HttpFault> parse_query(std::string_view text) {
    Query query;
    while (!text.empty()) {
        const auto pair = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(pair.size() + 1, text.size()));
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        auto name = decode(pair.substr(0, equals), true);
        auto value = decode(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
        if (!name || !value) return refuse("the query has a character or an escape that is not allowed");
        query.emplace(std::move(*name), std::move(*value));
    }
    return query;
}

}  // namespace

tl::expected<HttpTarget, HttpFault> parse_target(std::string_view target) {
    if (!target.starts_with('/')) {
        // A client that takes us for a proxy sends the whole URL; RFC 9112 wants
        // it understood.
        constexpr std::string_view kScheme = "http://";
        if (!target.starts_with(kScheme)) return refuse("the request target must begin with a slash");
        target.remove_prefix(kScheme.size());
        target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
        if (!target.starts_with('/')) return refuse("the request target has no path");
    }
    const auto question = target.find('?');
    const auto raw_path = target.substr(0, question);
    auto path = decode(raw_path, false);
    if (!path) return refuse("the path has a character or an escape that is not allowed");
    if (has_odd_segment(*path)) return refuse("the path has an empty, . or .. segment");
    // "%2F" is a slash inside a name; no name has one, and taking it for a
    // separator is how such paths escape.
    if (std::count(path->begin(), path->end(), '/') != std::count(raw_path.begin(), raw_path.end(), '/'))
        return refuse("the path has an escaped slash");

    auto query = parse_query(question == std::string_view::npos ? "" : target.substr(question + 1));
    if (!query) return tl::make_unexpected(query.error());
    return HttpTarget{std::move(*path), std::move(*query)};
}

}  // namespace dormouse::wsio

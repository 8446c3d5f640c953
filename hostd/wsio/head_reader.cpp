// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/head_reader.h"

#include <algorithm>
#include <optional>

namespace dormouse::wsio {

namespace {

// Two of any of these are an attack or a broken client; joined by a comma they
// would be a third thing that nobody sent.
constexpr std::string_view kSingle[] = {"authorization", "content-length",  "content-type", "expect",
                                        "host",          "idempotency-key", "origin"};

bool is_token_char(char c) {
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
    return std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

std::string to_lower(std::string_view text) {
    std::string out{text};
    for (auto& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    return out;
}

std::string_view trim(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Digits only; nothing for an empty or absurd number.
std::optional<std::uint64_t> parse_length(std::string_view text) {
    if (text.empty() || text.size() > 18) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value;
}

auto refuse(int status, std::string_view message) {
    return tl::make_unexpected(HttpFault{status, message});
}

}  // namespace

std::size_t HeadReader::feed(std::string_view bytes) {
    std::size_t used = 0;
    while (used < bytes.size() && state_ == State::Reading) {
        const char c = bytes[used++];
        const auto code = static_cast<unsigned char>(c);
        if (++bytes_ > max_bytes_) {
            fail(431, "the request line and headers are too large");
        } else if (after_cr_) {
            after_cr_ = false;
            if (c != '\n') {
                fail(400, "a header line does not end with CR LF");
            } else {
                take_line();
            }
        } else if (c == '\r') {
            after_cr_ = true;
        } else if ((code < 0x20 && c != '\t') || code == 0x7f) {
            fail(400, "there is a control character or a bare line feed in the request");
        } else {
            line_.push_back(c);
        }
    }
    return used;
}

void HeadReader::take_line() {
    if (start_line_.empty()) {
        // Old clients send an empty line after a body; RFC 9112 wants it skipped.
        if (!line_.empty()) start_line_ = std::exchange(line_, {});
        return;
    }
    if (line_.empty()) {
        state_ = State::Done;
        return;
    }
    take_header(line_);
    line_.clear();
}

void HeadReader::take_header(std::string_view line) {
    if (line.front() == ' ' || line.front() == '\t')
        return fail(400, "a header is folded over several lines");
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return fail(400, "a header line has no colon");
    if (!is_token(line.substr(0, colon))) return fail(400, "the name of a header is malformed");
    if (++count_ > max_headers_) return fail(431, "there are too many headers");

    auto name = to_lower(line.substr(0, colon));
    const auto value = trim(line.substr(colon + 1));
    const auto found = headers_.find(name);
    if (found == headers_.end()) {
        headers_.emplace(std::move(name), value);
        return;
    }
    if (std::find(std::begin(kSingle), std::end(kSingle), name) != std::end(kSingle))
        return fail(400, "a header that must be there once is there twice");
    found->second += ", ";
    found->second += value;
}

void HeadReader::fail(int status, std::string_view message) {
    state_ = State::Failed;
    fault_ = {status, message};
}

tl::expected<RequestLine, HttpFault> parse_request_line(std::string_view line) {
    const auto first = line.find(' ');
    const auto last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return refuse(400, "the request line is malformed");
    const auto method = line.substr(0, first);
    const auto target = line.substr(first + 1, last - first - 1);
    const auto version = line.substr(last + 1);
    if (!is_token(method) || method.size() > 32 || target.empty() ||
        target.find(' ') != std::string_view::npos)
        return refuse(400, "the request line is malformed");
    if (!version.starts_with("HTTP/")) return refuse(400, "the request line is malformed");
    if (version != "HTTP/1.1" && version != "HTTP/1.0")
        return refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    return RequestLine{std::string{method}, std::string{target}, version.back() - '0'};
}

tl::expected<StatusLine, HttpFault> parse_status_line(std::string_view line) {
    // "HTTP/1.1 200 OK"; the reason may be missing.
    if (line.size() < 12 || !(line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ")))
        return refuse(502, "the status line is malformed");
    const auto digits = line.substr(9, 3);
    const auto status = parse_length(digits);
    if (!status || *status < 100 || (line.size() > 12 && line[12] != ' '))
        return refuse(502, "the status line is malformed");
    return StatusLine{line[7] - '0', static_cast<int>(*status)};
}

BodyReader request_body(const Headers& headers, int version_minor, std::size_t limit) {
    const bool has_length = headers.contains("content-length");
    if (headers.contains("transfer-encoding")) {
        if (has_length)
            return BodyReader::refused({400, "Content-Length and Transfer-Encoding exclude each other"});
        if (version_minor == 0) return BodyReader::refused({400, "HTTP/1.0 has no Transfer-Encoding"});
        if (to_lower(find_header(headers, "transfer-encoding")) != "chunked")
            return BodyReader::refused({501, "the only transfer coding understood is chunked"});
        return BodyReader::chunked(limit);
    }
    if (!has_length) return {};
    const auto length = parse_length(find_header(headers, "content-length"));
    if (!length) return BodyReader::refused({400, "Content-Length is not a number"});
    return BodyReader::with_length(*length, limit);
}

BodyReader response_body(const Headers& headers, std::string_view method, int status, std::size_t limit) {
    if (method == "HEAD" || status == 204 || status == 304) return {};
    if (headers.contains("transfer-encoding")) {
        if (to_lower(find_header(headers, "transfer-encoding")) != "chunked" ||
            headers.contains("content-length"))
            return BodyReader::refused({502, "the answer is framed in a way that is not understood"});
        return BodyReader::chunked(limit);
    }
    if (!headers.contains("content-length")) return BodyReader::until_close(limit);
    const auto length = parse_length(find_header(headers, "content-length"));
    if (!length) return BodyReader::refused({502, "the length of the answer is not a number"});
    return BodyReader::with_length(*length, limit);
}

bool has_token(std::string_view header, std::string_view token) {
    while (!header.empty()) {
        const auto item = header.substr(0, header.find(','));
        header.remove_prefix(std::min(item.size() + 1, header.size()));
        if (to_lower(trim(item)) == token) return true;
    }
    return false;
}

}  // namespace dormouse::wsio

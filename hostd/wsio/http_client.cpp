// SPDX-License-Identifier: Apache-2.0
#include "hostd/wsio/http_client.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "hostd/base/unique_fd.h"
#include "hostd/wsio/head_reader.h"

namespace dormouse::wsio {

namespace {

constexpr std::size_t kMaxHead = 64 << 10;
constexpr std::size_t kMaxHeaders = 200;

struct Url {
    std::string host;  // without brackets
    std::string port = "80";
    std::string authority;  // as it stands in the URL: for Host and messages
    std::string target = "/";
};

Result<Url> parse_url(const std::string& text) {
    const auto wrong = [&](std::string_view why) {
        return fail(Errc::InvalidArgument, fmt::format("\"{}\" is not a usable URL: {}", text, why));
    };
    constexpr std::string_view kScheme = "http://";
    std::string_view rest{text};
    if (std::any_of(rest.begin(), rest.end(),
                    [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; }))
        return wrong("it has a space or a control character");
    if (!rest.starts_with(kScheme)) return wrong("it must begin with http://");
    rest.remove_prefix(kScheme.size());
    rest = rest.substr(0, rest.find('#'));
    const auto authority = rest.substr(0, rest.find_first_of("/?"));
    if (authority.find('@') != std::string_view::npos) return wrong("a user name in it is not supported");

    Url url;
    url.authority = authority;
    url.target = rest.substr(authority.size());
    if (!url.target.starts_with('/')) url.target.insert(0, "/");
    auto host_end = authority.rfind(':');
    if (authority.starts_with('[')) {
        const auto bracket = authority.find(']');
        if (bracket == std::string_view::npos) return wrong("the bracket of the address is not closed");
        url.host = authority.substr(1, bracket - 1);
        host_end = bracket + 1 == authority.size() ? std::string_view::npos : bracket + 1;
        if (host_end != std::string_view::npos && authority[host_end] != ':')
            return wrong("the host is malformed");
    } else {
        url.host = authority.substr(0, host_end);
    }
    if (host_end != std::string_view::npos) url.port = authority.substr(host_end + 1);
    if (url.host.empty()) return wrong("it has no host");
    if (url.port.empty() || url.port.size() > 5 ||
        url.port.find_first_not_of("0123456789") != std::string::npos || std::stoi(url.port) > 65535)
        return wrong("the port is not a number up to 65535");
    return url;
}

class Deadline {
  public:
    explicit Deadline(Duration timeout) : at_(std::chrono::steady_clock::now() + timeout) {}

    // False when the time is up.
    bool wait(pollfd& entry) const {
        for (;;) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(at_ - std::chrono::steady_clock::now());
            if (left.count() <= 0) return false;
            const int count =
                ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1 << 30)));
            if (count > 0) return true;
            if (count < 0 && errno != EINTR) return true;  // the next call on the socket says what is wrong
        }
    }

  private:
    MonotonicTime at_;
};

tl::unexpected<Error> timed_out(const Url& url, const ClientRequest& request) {
    return fail(Errc::Timeout,
                fmt::format("no answer from {} within {} ms", url.authority,
                            std::chrono::duration_cast<std::chrono::milliseconds>(request.timeout).count()));
}

Result<UniqueFd> connect_one(const addrinfo& address, const Deadline& deadline) {
    UniqueFd fd{::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd) return fail_errno("cannot make a socket");
    if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
        if (errno != EINPROGRESS) return fail_errno("connect");
        pollfd entry{fd.get(), POLLOUT, 0};
        if (!deadline.wait(entry)) return fail_errno("connect", ETIMEDOUT);
        int os_error = 0;
        socklen_t size = sizeof os_error;
        ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &os_error, &size);
        if (os_error != 0) return fail_errno("connect", os_error);
    }
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

Result<UniqueFd> connect_to(const Url& url, const Deadline& deadline) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    addrinfo* list = nullptr;
    if (const int rc = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &list); rc != 0)
        return fail(Errc::Unavailable,
                    fmt::format("cannot find the host {}: {}", url.host, ::gai_strerror(rc)));
    Result<UniqueFd> fd = fail(Errc::Unavailable, "no address");
    for (const auto* address = list; address != nullptr && !fd; address = address->ai_next)
        fd = connect_one(*address, deadline);
    ::freeaddrinfo(list);
    if (fd) return fd;
    auto error = fd.error();
    error.code = error.os_error == ETIMEDOUT ? Errc::Timeout : Errc::Unavailable;
    error.message =
        fmt::format("cannot connect to {}: {}", url.authority,
                    error.os_error != 0 ? std::generic_category().message(error.os_error) : error.message);
    return fail(std::move(error));
}

Result<std::string> serialize(const ClientRequest& request, const Url& url) {
    std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", request.method,
                                   url.target, url.authority);
    const auto has_break = [](std::string_view part) {
        return part.find_first_of(std::string_view{"\r\n\0", 3}) != std::string_view::npos;
    };
    if (request.method.empty() || has_break(request.method) || request.method.find(' ') != std::string::npos)
        return fail(Errc::InvalidArgument, "the method of an HTTP request is malformed");
    for (const auto& [name, value] : request.headers) {
        if (name.empty() || has_break(name) || name.find_first_of(": ") != std::string::npos ||
            has_break(value))
            return fail(Errc::InvalidArgument,
                        fmt::format("the header {} of an HTTP request is malformed", name));
        text += fmt::format("{}: {}\r\n", name, value);
    }
    if (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
        request.method == "PATCH")
        text += fmt::format("Content-Length: {}\r\n", request.body.size());
    return text + "\r\n" + request.body;
}

// Bytes in, one answer out; interim answers (1xx) are skipped.
class ResponseReader {
  public:
    explicit ResponseReader(const ClientRequest& request) : request_(request) {}

    // True once the answer is whole.
    Result<bool> feed(std::string_view bytes) {
        while (!bytes.empty() && !done_) {
            if (!in_body_) {
                bytes.remove_prefix(head_.feed(bytes));
                if (head_.state() == HeadReader::State::Failed) return malformed(head_.fault());
                if (head_.state() == HeadReader::State::Done) DORMOUSE_TRY(take_head());
            } else {
                const auto used = body_.feed(bytes);
                bytes.remove_prefix(used);
                DORMOUSE_TRY(look_at_body());
            }
        }
        return done_;
    }

    // The server has closed. Errc::Interrupted when that was too early.
    Result<> end() {
        if (done_) return {};
        if (in_body_) body_.end_of_input();
        if (!in_body_ || body_.state() != BodyReader::State::Done)
            return fail(Errc::Interrupted, "the server closed the connection before the answer was complete");
        return look_at_body();
    }

    ClientResponse take() { return std::move(response_); }

  private:
    static tl::unexpected<Error> malformed(const HttpFault& fault) {
        return fail(Errc::Corrupt,
                    fmt::format("what answered does not speak HTTP properly: {}", fault.message));
    }

    Result<> take_head() {
        const auto line = parse_status_line(head_.start_line());
        if (!line) return malformed(line.error());
        response_.status = line->status;
        response_.headers = std::move(head_.headers());
        head_ = HeadReader{kMaxHead, kMaxHeaders};
        if (line->status < 200) return {};
        in_body_ = true;
        body_ = response_body(response_.headers, request_.method, line->status, request_.response_limit);
        return look_at_body();
    }

    Result<> look_at_body() {
        if (body_.state() == BodyReader::State::Failed) {
            if (body_.fault().status != 413) return malformed(body_.fault());
            return fail(Errc::TooLarge,
                        fmt::format("the answer is larger than {} bytes", request_.response_limit));
        }
        const bool streamed = request_.on_body && response_.status < 300;
        if (streamed) {
            const auto part = body_.take();
            if (!part.empty() && !request_.on_body(part)) done_ = true;
        }
        if (body_.state() == BodyReader::State::Done) {
            response_.body = body_.take();
            done_ = true;
        }
        return {};
    }

    const ClientRequest& request_;
    HeadReader head_{kMaxHead, kMaxHeaders};
    BodyReader body_;
    ClientResponse response_;
    bool in_body_ = false;
    bool done_ = false;
};

// Sends `out` and reads the answer at the same time: a server may answer (413)
// and close before it has read everything.
Result<ClientResponse> exchange(const UniqueFd& fd, std::string_view out, const ClientRequest& request,
                                const Url& url, Deadline deadline) {
    ResponseReader reader{request};
    std::string buffer(64 << 10, '\0');
    for (;;) {
        pollfd entry{fd.get(), static_cast<short>(out.empty() ? POLLIN : POLLIN | POLLOUT), 0};
        if (!deadline.wait(entry)) return timed_out(url, request);
        if (!out.empty() && (entry.revents & POLLOUT) != 0) {
            const auto sent = ::send(fd.get(), out.data(), out.size(), MSG_NOSIGNAL);
            if (sent > 0) out.remove_prefix(static_cast<std::size_t>(sent));
            // It has stopped listening; it may still have said why.
            if (sent < 0 && errno != EAGAIN && errno != EINTR) out = {};
        }
        if ((entry.revents & ~POLLOUT) == 0) continue;
        const auto got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (got < 0)
            return fail(Errc::Interrupted, fmt::format("the connection to {} was lost: {}", url.authority,
                                                       std::generic_category().message(errno)));
        if (got == 0) {
            DORMOUSE_TRY(reader.end());
            return reader.take();
        }
        DORMOUSE_TRY_ASSIGN(const bool done, reader.feed({buffer.data(), static_cast<std::size_t>(got)}));
        if (done) return reader.take();
        if (request.on_body) deadline = Deadline{request.timeout};
    }
}

}  // namespace

Result<ClientResponse> http_request(const ClientRequest& request) {
    DORMOUSE_TRY_ASSIGN(const auto url, parse_url(request.url));
    DORMOUSE_TRY_ASSIGN(const auto bytes, serialize(request, url));
    const Deadline deadline{request.timeout};
    DORMOUSE_TRY_ASSIGN(const auto fd, connect_to(url, deadline));
    return exchange(fd, bytes, request, url, deadline);
}

std::string percent_encode(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           std::string_view{"-._~"}.find(c) != std::string_view::npos;
        if (plain) {
            out.push_back(c);
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

}  // namespace dormouse::wsio

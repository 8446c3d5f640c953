// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/result.h"

#include <cerrno>
#include <system_error>

namespace dormouse {

std::string_view errc_name(Errc code) {
    switch (code) {
        case Errc::InvalidArgument:
            return "invalid_argument";
        case Errc::Unauthenticated:
            return "unauthenticated";
        case Errc::Denied:
            return "denied";
        case Errc::NotFound:
            return "not_found";
        case Errc::Conflict:
            return "conflict";
        case Errc::TooLarge:
            return "too_large";
        case Errc::RateLimited:
            return "rate_limited";
        case Errc::Unavailable:
            return "unavailable";
        case Errc::Timeout:
            return "timeout";
        case Errc::Interrupted:
            return "interrupted";
        case Errc::Io:
            return "io";
        case Errc::Corrupt:
            return "corrupt";
        case Errc::Internal:
            return "internal";
    }
    return "internal";
}

std::optional<Errc> errc_of_name(std::string_view name) {
    for (int code = 0; code <= static_cast<int>(Errc::Internal); ++code)
        if (errc_name(static_cast<Errc>(code)) == name) return static_cast<Errc>(code);
    return std::nullopt;
}

namespace {

Errc code_of(int os_error) {
    switch (os_error) {
        case ENOENT:
        case ENOTDIR:
            return Errc::NotFound;
        case EACCES:
        case EPERM:
            return Errc::Denied;
        case EEXIST:
            return Errc::Conflict;
        case ETIMEDOUT:
            return Errc::Timeout;
        case EAGAIN:
        case ECONNREFUSED:
            return Errc::Unavailable;
        default:
            return Errc::Io;
    }
}

}  // namespace

tl::unexpected<Error> fail_errno(std::string_view doing, int os_error) {
    return tl::make_unexpected(Error{code_of(os_error),
                                     fmt::format("{}: {}", doing, std::generic_category().message(os_error)),
                                     {},
                                     os_error});
}

tl::unexpected<Error> fail_errno(std::string_view doing) {
    return fail_errno(doing, errno);
}

tl::unexpected<Error> fail_in(std::string_view context, Error error) {
    error.message = fmt::format("{}: {}", context, error.message);
    return tl::make_unexpected(std::move(error));
}

}  // namespace dormouse

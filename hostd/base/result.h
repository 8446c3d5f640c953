// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace dormouse {

// The closed set of reasons. Each has one HTTP status and one CLI exit code;
// see hostd/schema/error.h.
enum class Errc {
    InvalidArgument,  // the request is wrong in itself
    Unauthenticated,  // no token, or one that is not known
    Denied,           // the token may not do this
    NotFound,
    Conflict,     // not in this state, or already there
    TooLarge,     // a body, a file or a number beyond a limit
    RateLimited,  // too many requests of one caller; later
    Unavailable,  // not now; trying again later may work
    Timeout,
    Interrupted,  // the other side went away in the middle; what it did is not known
    Io,
    Corrupt,  // bytes that do not have the form they must have
    Internal,
};

std::string_view errc_name(Errc code);
std::optional<Errc> errc_of_name(std::string_view name);  // the inverse

struct Error {
    Errc code = Errc::Internal;
    std::string message;  // a sentence without full stop, no secrets
    std::string hint;     // what to do about it; may be empty
    int os_error = 0;     // errno when the cause was a system call
};

// tl::expected with [[nodiscard]], which Debian's 1.0.0 lacks.
template <class T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
  public:
    using Base = tl::expected<T, Error>;
    using Base::Base;
    Result(Base other) : Base(std::move(other)) {}  // NOLINT: and_then()/map() return Base
};

inline tl::unexpected<Error> fail(Errc code, std::string message, std::string hint = {}) {
    return tl::make_unexpected(Error{code, std::move(message), std::move(hint), 0});
}
inline tl::unexpected<Error> fail(Error error) {
    return tl::make_unexpected(std::move(error));
}

// "doing: strerror(errno)", with the errno kept and a fitting code.
tl::unexpected<Error> fail_errno(std::string_view doing, int os_error);
tl::unexpected<Error> fail_errno(std::string_view doing);  // takes errno

// Puts "context: " before the message. For use at module borders.
tl::unexpected<Error> fail_in(std::string_view context, Error error);

}  // namespace dormouse

#define DORMOUSE_CONCAT_INNER(a, b) a##b
#define DORMOUSE_CONCAT(a, b) DORMOUSE_CONCAT_INNER(a, b)

// Returns the error of a Result-valued expression from the enclosing function.
#define DORMOUSE_TRY(expression)                                                     \
    do {                                                                             \
        auto dormouse_result = (expression);                                         \
        if (!dormouse_result) return ::tl::make_unexpected(dormouse_result.error()); \
    } while (false)

#define DORMOUSE_TRY_ASSIGN_INNER(name, declaration, expression) \
    auto name = (expression);                                    \
    if (!name) return ::tl::make_unexpected(name.error());       \
    declaration = std::move(*name)

// DORMOUSE_TRY_ASSIGN(auto row, store.find(id));
#define DORMOUSE_TRY_ASSIGN(declaration, expression) \
    DORMOUSE_TRY_ASSIGN_INNER(DORMOUSE_CONCAT(dormouse_result_, __LINE__), declaration, expression)

// The same two inside a coroutine that returns Task<Result<T>>.
#define DORMOUSE_CO_TRY(expression)                                                     \
    do {                                                                                \
        auto dormouse_result = (expression);                                            \
        if (!dormouse_result) co_return ::tl::make_unexpected(dormouse_result.error()); \
    } while (false)

#define DORMOUSE_CO_TRY_ASSIGN_INNER(name, declaration, expression) \
    auto name = (expression);                                       \
    if (!name) co_return ::tl::make_unexpected(name.error());       \
    declaration = std::move(*name)

#define DORMOUSE_CO_TRY_ASSIGN(declaration, expression) \
    DORMOUSE_CO_TRY_ASSIGN_INNER(DORMOUSE_CONCAT(dormouse_result_, __LINE__), declaration, expression)

// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/error.h"

#include <array>

#include "hostd/schema/error_json.h"

namespace dormouse::schema {

namespace {

struct Row {
    Errc code;
    int status;
};

// For a status that several have, the first is what it means when read back.
constexpr std::array<Row, 13> kRows{{
    {Errc::InvalidArgument, 400},
    {Errc::Unauthenticated, 401},
    {Errc::Denied, 403},
    {Errc::NotFound, 404},
    {Errc::Conflict, 409},
    {Errc::TooLarge, 413},
    {Errc::RateLimited, 429},
    {Errc::Unavailable, 503},
    {Errc::Timeout, 504},
    {Errc::Interrupted, 502},
    {Errc::Internal, 500},
    {Errc::Io, 500},
    {Errc::Corrupt, 500},
}};

const Row& row_of(Errc code) {
    for (const auto& row : kRows)
        if (row.code == code) return row;
    return kRows.back();
}

}  // namespace

int http_status(Errc code) {
    return row_of(code).status;
}

Errc errc_from_status(int status) {
    for (const auto& row : kRows)
        if (row.status == status) return row.code;
    return status >= 400 && status < 500 ? Errc::InvalidArgument : Errc::Internal;
}

std::optional<Errc> errc_from_name(std::string_view name) {
    return errc_of_name(name);
}

Json encode(const ErrorBody& body) {
    Json error{
        {"code", errc_name(body.error.code)}, {"message", body.error.message}, {"hint", body.error.hint}};
    if (body.action_index) error["action_index"] = *body.action_index;
    return error;
}

ErrorBody decode_error(ObjectReader& in) {
    ErrorBody body;
    // A code that a newer server has and we do not know is still an error.
    body.error.code = errc_from_name(in.text("code")).value_or(Errc::Internal);
    body.error.message = in.text("message");
    body.error.hint = in.optional_text("hint").value_or("");
    body.action_index = in.optional_whole("action_index", {0, 1'000'000});
    return body;
}

std::string to_json(const ErrorBody& body) {
    return write_json(Json{{"error", encode(body)}});
}

template <>
Result<ErrorBody> parse<ErrorBody>(std::string_view text) {
    return read_answer<ErrorBody>(text, [](ObjectReader& in) {
        ErrorBody body;
        in.object("error", [&](ObjectReader& error) { body = decode_error(error); });
        return body;
    });
}

}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/responses.h"

#include <fmt/format.h>

#include <cstdint>
#include <functional>

#include "hostd/schema/error.h"
#include "hostd/schema/json.h"

namespace dormouse::api {

wsio::HttpResponse error_response(const Error& error) {
    auto response = wsio::HttpResponse::json(schema::http_status(error.code),
                                             schema::to_json(schema::ErrorBody{error, {}}));
    if (error.code == Errc::Unauthenticated)
        response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="dormouse")");
    return response;
}

wsio::HttpResponse method_not_allowed(std::string_view method, std::string_view path,
                                      const std::string& allow) {
    auto response =
        error_response({Errc::InvalidArgument,
                        fmt::format("{} is not possible on {}", schema::shown(method), schema::shown(path)),
                        fmt::format("possible: {}", allow), 0});
    response.status = 405;
    response.headers.emplace_back("Allow", allow);
    return response;
}

wsio::HttpResponse picture_response(const desktop::Picture& picture, std::string_view if_none_match) {
    const auto etag = picture.tag.empty() ? content_etag(*picture.bytes) : fmt::format("\"{}\"", picture.tag);
    const bool known = matches_etag(if_none_match, etag);
    const auto& region = picture.region;
    wsio::HttpResponse response;
    response.status = known ? 304 : 200;
    response.headers = {
        {"ETag", etag},
        {"X-Dormouse-Width", fmt::to_string(picture.width)},
        {"X-Dormouse-Height", fmt::to_string(picture.height)},
        {"X-Dormouse-Screen-Width", fmt::to_string(picture.screen_width)},
        {"X-Dormouse-Screen-Height", fmt::to_string(picture.screen_height)},
        {"X-Dormouse-Region", fmt::format("{},{},{},{}", region.x, region.y, region.width, region.height)}};
    if (picture.quality != 0)
        response.headers.emplace_back("X-Dormouse-Quality", fmt::to_string(picture.quality));
    if (!picture.cursor.empty())
        response.headers.emplace_back("X-Dormouse-Cursor", std::string{picture.cursor});
    if (known) return response;
    response.headers.emplace_back("Content-Type", std::string{picture.media_type});
    response.body = picture.bytes;
    return response;
}

std::string content_etag(std::string_view content) {
    return fmt::format("\"{:016x}-{:x}\"", static_cast<std::uint64_t>(std::hash<std::string_view>{}(content)),
                       content.size());
}

bool matches_etag(std::string_view if_none_match, std::string_view etag) {
    while (!if_none_match.empty()) {
        auto candidate = if_none_match.substr(0, if_none_match.find(','));
        if_none_match.remove_prefix(std::min(candidate.size() + 1, if_none_match.size()));
        while (!candidate.empty() && candidate.front() == ' ') candidate.remove_prefix(1);
        while (!candidate.empty() && candidate.back() == ' ') candidate.remove_suffix(1);
        if (candidate.substr(0, 2) == "W/") candidate.remove_prefix(2);
        if (candidate == "*" || candidate == etag) return true;
    }
    return false;
}

}  // namespace dormouse::api

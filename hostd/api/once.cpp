// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/once.h"

#include <fmt/format.h>

#include <algorithm>

#include "hostd/schema/json.h"

namespace dormouse::api {

using schema::Json;

Result<std::optional<desktop::OnceKey>> once_key(const wsio::HttpRequest& request) {
    const auto found = request.headers.find("idempotency-key");
    if (found == request.headers.end()) return std::optional<desktop::OnceKey>{};
    const auto& key = found->second;
    const bool good = !key.empty() && key.size() <= kLongestOnceKey &&
                      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!good)
        return fail(Errc::InvalidArgument,
                    fmt::format("Idempotency-Key: must be 1 to {} printable characters without spaces",
                                kLongestOnceKey),
                    "a UUID of its own for each new request will do");
    // Lengths in front: two different requests never make the same text.
    auto asked = fmt::format("{} {}\n", request.method, request.path);
    for (const auto& [name, value] : request.query)
        asked += fmt::format("{} {}\n{}{}\n", name.size(), value.size(), name, value);
    asked += fmt::format("{}\n", request.body.size());
    return std::optional{desktop::OnceKey{key, asked + request.body}};
}

std::string pack_answer(const wsio::HttpResponse& response) {
    Json json{{"status", response.status}, {"headers", Json::array()}};
    for (const auto& [name, value] : response.headers) json["headers"].push_back(Json::array({name, value}));
    json["body"] = response.body ? *response.body : "";
    return schema::write_json(json);
}

Result<wsio::HttpResponse> unpack_answer(std::string_view bytes) {
    const auto bad = [] { return fail(Errc::Corrupt, "a kept answer cannot be read"); };
    const auto json = Json::parse(bytes, nullptr, false);
    if (!json.is_object() || !json.contains("status") || !json["status"].is_number_integer() ||
        !json.contains("headers") || !json["headers"].is_array() || !json.contains("body") ||
        !json["body"].is_string())
        return bad();
    wsio::HttpResponse response;
    response.status = json["status"].get<int>();
    if (response.status < 200 || response.status > 299) return bad();
    for (const auto& header : json["headers"]) {
        if (!header.is_array() || header.size() != 2 || !header[0].is_string() || !header[1].is_string())
            return bad();
        response.headers.emplace_back(header[0].get<std::string>(), header[1].get<std::string>());
    }
    response.headers.emplace_back("Idempotency-Replayed", "true");
    response.body = std::make_shared<const std::string>(json["body"].get<std::string>());
    return response;
}

}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/route_helpers.h"

namespace dormouse::api {

namespace {

Result<desktop::Command> delete_token(const wsio::HttpRequest& request, const Parameters& parameters) {
    DORMOUSE_TRY_ASSIGN(auto token, TokenId::parse(parameters.front()));
    DORMOUSE_TRY(no_body(request));
    DORMOUSE_TRY(no_query(request));
    return desktop::DeleteToken{std::move(token)};
}

const Route kRoutes[] = {
    {"POST", "/v1/tokens", "createToken",
     CommandRoute{about_body<schema::CreateTokenRequest>, as_json<desktop::NewToken, 201>, true}},
    {"GET", "/v1/tokens", "listTokens",
     CommandRoute{about_nothing<desktop::ListTokens>, as_json<std::vector<desktop::TokenInfo>, 200>}},
    {"DELETE", "/v1/tokens/{token}", "deleteToken", CommandRoute{delete_token, no_content}},
};

}  // namespace

std::span<const Route> token_routes() {
    return kRoutes;
}

}  // namespace dormouse::api

// SPDX-License-Identifier: Apache-2.0
// Who may use this server.
#include "hostd/base/log.h"
#include "hostd/desktop/service.h"
#include "hostd/desktop/tokens.h"

namespace dormouse::desktop {

namespace {

constexpr std::size_t kLongestTokenName = 100;

Result<TokenInfo> to_info(const db::TokenRow& row) {
    DORMOUSE_TRY_ASSIGN(const auto scope, parse_scope(row.scope));
    return TokenInfo{row.id, row.name, scope, row.created_at, row.last_used_at};
}

}  // namespace

Task<Result<Answer>> Service::run(CreateToken request, Asked) {
    if (request.name.empty() || request.name.size() > kLongestTokenName)
        co_return fail(Errc::InvalidArgument,
                       fmt::format("a token's name has 1 to {} characters", kLongestTokenName));
    const auto secret = make_token_secret();
    const auto row = make_token_row(request.name, request.scope, secret, host_.loop.clock().wall());
    auto insert = on_store([&stores = stores_, row] { return stores.tokens.insert(row); });
    DORMOUSE_CO_TRY(co_await std::move(insert));
    DORMOUSE_CO_TRY_ASSIGN(auto info, to_info(row));
    co_return Answer{NewToken{std::move(info), secret.reveal_for_transport()}};
}

Task<Result<Answer>> Service::run(ListTokens, Asked) {
    auto reading = on_store([&stores = stores_] { return stores.tokens.list(); });
    DORMOUSE_CO_TRY_ASSIGN(const auto rows, co_await std::move(reading));
    std::vector<TokenInfo> all;
    for (const auto& row : rows) {
        DORMOUSE_CO_TRY_ASSIGN(auto info, to_info(row));
        all.push_back(std::move(info));
    }
    co_return Answer{std::move(all)};
}

Task<Result<Answer>> Service::run(DeleteToken request, Asked) {
    auto removal = on_store([&stores = stores_, id = request.token] { return stores.tokens.remove(id); });
    DORMOUSE_CO_TRY(co_await std::move(removal));
    co_return Answer{Done{}};
}

Task<Result<Caller>> Service::authenticate(std::string bearer) {
    auto hash = hash_token_secret(bearer);
    const auto now = host_.loop.clock().wall();
    auto lookup =
        on_store([&stores = stores_, hash = std::move(hash), now]() -> Result<std::optional<db::TokenRow>> {
            auto row = stores.tokens.find_by_hash(hash);
            if (row && *row) {
                if (const auto touched = stores.tokens.touch((*row)->id, now); !touched)
                    log::warn("token.touch", {{"why", touched.error().message}});
            }
            return row;
        });
    auto found = co_await std::move(lookup);
    if (!found) co_return fail(found.error());
    if (!*found) co_return fail(Errc::Unauthenticated, "this token is not known");
    DORMOUSE_CO_TRY_ASSIGN(const auto scope, parse_scope((*found)->scope));
    co_return Caller{(*found)->id.str(), scope};
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// Who may use this server.
#include <algorithm>

#include "hostd/base/log.h"
#include "hostd/desktop/seal.h"
#include "hostd/desktop/service.h"
#include "hostd/desktop/tokens.h"

namespace dormouse::desktop {

namespace {

constexpr std::size_t kLongestTokenName = 100;
// Each is a write to the disk.
constexpr auto kTouchInterval = std::chrono::minutes{1};

Result<TokenInfo> to_info(const db::TokenRow& row) {
    DORMOUSE_TRY_ASSIGN(const auto scope, parse_scope(row.scope));
    DORMOUSE_TRY_ASSIGN(auto limits, limits_of_row(row));
    return TokenInfo{.id = row.id,
                     .name = row.name,
                     .scope = scope,
                     .created_at = row.created_at,
                     .last_used_at = row.last_used_at,
                     .limits = std::move(limits),
                     .expires_at = row.expires_at};
}

}  // namespace

// There are few, and each request asks for one: they are kept here.
Task<Result<>> Service::load_tokens() {
    if (tokens_) co_return Result<>{};
    auto reading = on_store([&stores = stores_] { return stores.tokens.list(); });
    DORMOUSE_CO_TRY_ASSIGN(auto rows, co_await std::move(reading));
    if (tokens_) co_return Result<>{};  // by another meanwhile, and perhaps changed since
    tokens_.emplace();
    for (auto& row : rows) {
        auto hash = row.hash;
        tokens_->emplace(std::move(hash), std::move(row));
    }
    co_return Result<>{};
}

Task<Result<Caller>> Service::authenticate(std::string bearer) {
    DORMOUSE_CO_TRY(co_await load_tokens());
    // By its hash, which nobody can choose: how long looking it up takes tells nothing.
    const auto found = tokens_->find(hash_token_secret(bearer));
    if (found == tokens_->end()) co_return fail(Errc::Unauthenticated, "this token is not known");
    auto& row = found->second;
    const auto now = host_.loop.clock().wall();
    if (row.expires_at && *row.expires_at <= now)
        co_return fail(Errc::Unauthenticated, "this token has expired");
    // A time in the future comes from a clock that was wrong.
    if (!row.last_used_at || *row.last_used_at <= now - kTouchInterval || *row.last_used_at > now) {
        row.last_used_at = std::chrono::floor<std::chrono::milliseconds>(now);
        store_thread_.post([&stores = stores_, id = row.id, now] {
            if (const auto touched = stores.tokens.touch(id, now); !touched)
                log::warn("token.touch", {{"why", touched.error().message}});
        });
    }
    DORMOUSE_CO_TRY_ASSIGN(const auto info, to_info(row));
    co_return Caller{.token = info.id.str(),
                     .scope = info.scope,
                     .limits = info.limits,
                     .expires_at = info.expires_at,
                     .seal = seal_key(bearer),
                     .once = {}};
}

Task<Result<Answer>> Service::run(CreateToken request, Asked) {
    if (request.name.empty() || request.name.size() > kLongestTokenName)
        co_return fail(Errc::InvalidArgument,
                       fmt::format("a token's name has 1 to {} characters", kLongestTokenName));
    DORMOUSE_CO_TRY(check_limits(request.scope, request.limits));
    const auto now = host_.loop.clock().wall();
    if (request.expires_at && *request.expires_at <= now)
        co_return fail(Errc::InvalidArgument, "expires_at: that is over already", "give a time to come");
    DORMOUSE_CO_TRY(co_await load_tokens());
    const auto secret = make_token_secret();
    auto row = make_token_row(request.name, request.scope, secret, now);
    limits_to_row(request.limits, row);
    if (request.expires_at)
        row.expires_at = std::chrono::floor<std::chrono::milliseconds>(*request.expires_at);
    auto insert = on_store([&stores = stores_, row] { return stores.tokens.insert(row); });
    DORMOUSE_CO_TRY(co_await std::move(insert));
    tokens_->insert_or_assign(row.hash, row);
    DORMOUSE_CO_TRY_ASSIGN(auto info, to_info(row));
    co_return Answer{NewToken{std::move(info), secret.reveal_for_transport()}};
}

Task<Result<Answer>> Service::run(ListTokens, Asked) {
    DORMOUSE_CO_TRY(co_await load_tokens());
    std::vector<TokenInfo> all;
    for (const auto& [hash, row] : *tokens_) {
        DORMOUSE_CO_TRY_ASSIGN(auto info, to_info(row));
        all.push_back(std::move(info));
    }
    std::sort(all.begin(), all.end(), [](const TokenInfo& a, const TokenInfo& b) {
        return std::tie(a.created_at, a.id) < std::tie(b.created_at, b.id);
    });
    co_return Answer{std::move(all)};
}

Task<Result<Answer>> Service::run(DeleteToken request, Asked) {
    auto removal = on_store([&stores = stores_, id = request.token]() -> Result<> {
        DORMOUSE_TRY(stores.tokens.remove(id));
        return stores.idempotency.remove_token(id.str());
    });
    DORMOUSE_CO_TRY(co_await std::move(removal));
    if (tokens_) std::erase_if(*tokens_, [&](const auto& entry) { return entry.second.id == request.token; });
    events_.end_of(request.token.str());
    co_return Answer{Done{}};
}

}  // namespace dormouse::desktop

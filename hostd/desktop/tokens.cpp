// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/tokens.h"

#include <sodium.h>

#include <algorithm>

#include "hostd/base/check.h"
#include "hostd/base/file.h"
#include "hostd/base/random.h"

namespace dormouse::desktop {

Secret make_token_secret() {
    const auto bytes = random_bytes(32);
    char text[sodium_base64_ENCODED_LEN(32, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
    sodium_bin2base64(text, sizeof text, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return Secret{fmt::format("dm_{}", static_cast<const char*>(text))};
}

std::string hash_token_secret(std::string_view secret) {
    std::string hash(crypto_generichash_BYTES, '\0');
    crypto_generichash(reinterpret_cast<unsigned char*>(hash.data()), hash.size(),
                       reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), nullptr, 0);
    return hash;
}

db::TokenRow make_token_row(const std::string& name, Scope scope, const Secret& secret, WallTime now) {
    auto id = TokenId::parse("t-" + random_hex(6));
    DORMOUSE_CHECK(id.has_value());
    return {.id = std::move(*id),
            .name = name,
            .scope = std::string{scope_name(scope)},
            .hash = hash_token_secret(secret.reveal_for_transport()),
            .created_at = std::chrono::floor<std::chrono::milliseconds>(now)};
}

namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const auto word = text.substr(0, text.find(' '));
        if (!word.empty()) words.emplace_back(word);
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return words;
}

void add_word(std::string& text, std::string_view word) {
    if (!text.empty()) text += ' ';
    text += word;
}

}  // namespace

void limits_to_row(const TokenLimits& limits, db::TokenRow& row) {
    for (const auto& desktop : limits.desktops) add_word(row.desktops, desktop);
    for (const auto group : limits.groups) add_word(row.commands, group_name(group));
    if (limits.label) row.label = fmt::format("{}={}", limits.label->key, limits.label->value.value_or(""));
}

Result<TokenLimits> limits_of_row(const db::TokenRow& row) {
    TokenLimits limits{.desktops = words_of(row.desktops), .label = {}, .groups = {}};
    for (const auto& word : words_of(row.commands)) {
        const auto group = parse_group(word);
        if (!group) return fail(Errc::Corrupt, "the database holds a group of commands that there is not");
        limits.groups.insert(*group);
    }
    if (!row.label.empty()) {
        auto label = parse_label_filter(row.label);
        if (!label || !label->value) return fail(Errc::Corrupt, "the database holds a label that is none");
        limits.label = std::move(*label);
    }
    return limits;
}

Result<> ensure_admin_token(db::TokenStore& tokens, const std::filesystem::path& file, WallTime now) {
    if (auto text = read_file(file, 4096)) {
        while (!text->empty() && text->back() == '\n') text->pop_back();
        DORMOUSE_TRY_ASSIGN(const auto known, tokens.find_by_hash(hash_token_secret(*text)));
        const bool good = known && (!known->expires_at || *known->expires_at > now);
        if (good && known->scope == scope_name(Scope::Admin)) return {};
    } else if (text.error().code != Errc::NotFound) {
        return fail(text.error());
    }
    const auto secret = make_token_secret();
    DORMOUSE_TRY(tokens.insert(make_token_row("admin of this host", Scope::Admin, secret, now)));
    return write_file_atomic(file, secret.reveal_for_transport() + "\n", 0600);
}

}  // namespace dormouse::desktop

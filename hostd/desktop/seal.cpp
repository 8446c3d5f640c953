// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/seal.h"

#include <sodium.h>

#include "hostd/base/check.h"

namespace dormouse::desktop {

namespace {

// Sets it apart from the hash by which the token is found.
constexpr std::string_view kPurpose = "dormouse: answers kept for a token";

const unsigned char* bytes(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

Secret seal_key(std::string_view token_secret) {
    std::string key(crypto_secretbox_KEYBYTES, '\0');
    crypto_generichash(bytes(key), key.size(), bytes(token_secret), token_secret.size(), bytes(kPurpose),
                       kPurpose.size());
    return Secret{std::move(key)};
}

std::string hash_bytes(std::string_view text) {
    std::string hash(crypto_generichash_BYTES, '\0');
    crypto_generichash(bytes(hash), hash.size(), bytes(text), text.size(), nullptr, 0);
    return hash;
}

std::string seal(const Secret& key, std::string_view text) {
    const auto& secret = key.reveal_for_transport();
    DORMOUSE_CHECK(secret.size() == crypto_secretbox_KEYBYTES);
    std::string sealed(crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + text.size(), '\0');
    randombytes_buf(sealed.data(), crypto_secretbox_NONCEBYTES);
    crypto_secretbox_easy(bytes(sealed) + crypto_secretbox_NONCEBYTES, bytes(text), text.size(),
                          bytes(std::string_view{sealed}), bytes(secret));
    return sealed;
}

Result<std::string> unseal(const Secret& key, std::string_view sealed) {
    const auto& secret = key.reveal_for_transport();
    constexpr std::size_t kOverhead = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
    const auto bad = [] { return fail(Errc::Corrupt, "what was sealed cannot be opened"); };
    if (secret.size() != crypto_secretbox_KEYBYTES || sealed.size() < kOverhead) return bad();
    std::string text(sealed.size() - kOverhead, '\0');
    if (crypto_secretbox_open_easy(bytes(text), bytes(sealed) + crypto_secretbox_NONCEBYTES,
                                   sealed.size() - crypto_secretbox_NONCEBYTES, bytes(sealed),
                                   bytes(secret)) != 0)
        return bad();
    return text;
}

}  // namespace dormouse::desktop

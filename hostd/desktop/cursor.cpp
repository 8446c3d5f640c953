// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/cursor.h"

#include <sodium.h>

#include <charconv>

namespace dormouse::desktop {

namespace {

constexpr std::size_t kLongest = 200;  // characters
constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

tl::unexpected<Error> bad() {
    return fail(Errc::InvalidArgument, "cursor: not one that this list has given",
                "take next_cursor of the answer before as it is, or leave it out to begin anew");
}

}  // namespace

std::string encode_cursor(char list, const Cursor& cursor) {
    const auto plain = fmt::format("{}{} {}", list, cursor.number, cursor.name);
    std::string text(sodium_base64_encoded_len(plain.size(), kVariant), '\0');
    sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(plain.data()),
                      plain.size(), kVariant);
    text.pop_back();  // the terminator
    return text;
}

Result<Cursor> decode_cursor(char list, std::string_view text) {
    if (text.empty() || text.size() > kLongest) return bad();
    std::string plain(text.size(), '\0');
    std::size_t size = 0;
    const char* end = nullptr;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(plain.data()), plain.size(), text.data(),
                          text.size(), nullptr, &size, &end, kVariant) != 0 ||
        end != text.data() + text.size())
        return bad();
    plain.resize(size);
    if (plain.empty() || plain.front() != list) return bad();
    Cursor cursor;
    const char* const last = plain.data() + plain.size();
    const auto [stop, error] = std::from_chars(plain.data() + 1, last, cursor.number);
    if (error != std::errc{} || stop == last || *stop != ' ') return bad();
    cursor.name.assign(stop + 1, last);
    return cursor;
}

}  // namespace dormouse::desktop

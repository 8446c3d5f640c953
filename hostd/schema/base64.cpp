// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/base64.h"

#include <array>
#include <cstdint>

namespace dormouse::schema {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> make_values() {
    std::array<std::uint8_t, 256> values{};
    for (auto& value : values) value = kNone;
    for (std::size_t i = 0; i < kAlphabet.size(); ++i)
        values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
    return values;
}
constexpr auto kValues = make_values();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u;
}

auto bad() {
    return fail(Errc::InvalidArgument, "not base64");
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4, '=');
    auto* out = text.data();
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto group = byte_at(bytes, at) << 16 | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2);
        out[0] = kAlphabet[group >> 18];
        out[1] = kAlphabet[group >> 12 & 63];
        if (at + 1 < bytes.size()) out[2] = kAlphabet[group >> 6 & 63];
        if (at + 2 < bytes.size()) out[3] = kAlphabet[group & 63];
        out += 4;
    }
    return text;
}

Result<std::string> decode_base64(std::string_view text) {
    if (text.size() % 4 != 0) return bad();
    std::size_t padding = 0;
    while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
    const auto digits = text.size() - padding;

    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    for (std::size_t at = 0; at < digits; ++at) {
        const auto value = kValues[static_cast<unsigned char>(text[at])];
        if (value == kNone) return bad();
        bits = bits << 6 | value;
        switch (at % 4) {
            case 1:
                bytes += static_cast<char>(bits >> 4 & 255);
                break;
            case 2:
                bytes += static_cast<char>(bits >> 2 & 255);
                break;
            case 3:
                bytes += static_cast<char>(bits & 255);
                break;
            default:
                break;
        }
    }
    const auto left_over = padding == 1 ? bits & 3 : padding == 2 ? bits & 15 : 0;
    if (left_over != 0) return bad();
    return bytes;
}

}  // namespace dormouse::schema

// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/utf8.h"

#include <algorithm>

namespace dormouse {

namespace {

struct Lead {
    std::size_t length = 0;  // of the character, in bytes; 0: no character begins like this
    unsigned low = 0x80;     // of its second byte
    unsigned high = 0xbf;
};

Lead look_at(unsigned char byte) {
    if (byte < 0x80) return {1};
    if (byte >= 0xc2 && byte <= 0xdf) return {2};
    if (byte >= 0xe0 && byte <= 0xef) return {3, byte == 0xe0 ? 0xa0u : 0x80u, byte == 0xed ? 0x9fu : 0xbfu};
    if (byte >= 0xf0 && byte <= 0xf4) return {4, byte == 0xf0 ? 0x90u : 0x80u, byte == 0xf4 ? 0x8fu : 0xbfu};
    return {};
}

// Bytes of the character at the front; 0 when there is none, or not all of it.
std::size_t character_at_front(std::string_view text) {
    const auto lead = look_at(static_cast<unsigned char>(text.front()));
    if (lead.length == 0 || lead.length > text.size()) return 0;
    for (std::size_t i = 1; i < lead.length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const unsigned low = i == 1 ? lead.low : 0x80;
        const unsigned high = i == 1 ? lead.high : 0xbf;
        if (byte < low || byte > high) return 0;
    }
    return lead.length;
}

bool is_control(std::string_view character) {
    const auto first = static_cast<unsigned char>(character.front());
    if (character.size() == 1) return (first < 0x20 && first != '\t') || first == 0x7f;
    // U+0080 to U+009F; U+2028 and U+2029 end lines for some.
    if (character.size() == 2) return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
    return character == "\xe2\x80\xa8" || character == "\xe2\x80\xa9";
}

}  // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto length = character_at_front(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string one_line(std::string_view text, std::size_t most) {
    constexpr std::string_view kReplacement = "\xef\xbf\xbd";
    std::string out;
    while (!text.empty()) {
        const auto length = character_at_front(text);
        auto character = length == 0 ? kReplacement : text.substr(0, length);
        if (is_control(character)) character = " ";
        if (out.size() + character.size() > most) break;
        out += character;
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

std::string_view whole_characters(std::string_view text) {
    // The last character begins at most three bytes before the end.
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if ((byte & 0xc0) == 0x80) continue;
        return look_at(byte).length > back ? text.substr(0, text.size() - back) : text;
    }
    return text;
}

}  // namespace dormouse

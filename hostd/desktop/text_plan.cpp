// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/text_plan.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "hostd/desktop/keymap.h"

namespace dormouse::desktop {

namespace {

struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;
};

// The well-formed UTF-8 sequence at the start of `text`: no overlong forms, no
// surrogates, nothing beyond U+10FFFF.
std::optional<Character> decode(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const auto first = byte(0);
    if (first < 0x80) return Character{first, 1};
    std::size_t bytes = 0;
    std::uint32_t code = 0;
    std::uint32_t least = 0;
    if ((first & 0xe0) == 0xc0) {
        bytes = 2, code = first & 0x1fu, least = 0x80;
    } else if ((first & 0xf0) == 0xe0) {
        bytes = 3, code = first & 0x0fu, least = 0x800;
    } else if ((first & 0xf8) == 0xf0) {
        bytes = 4, code = first & 0x07u, least = 0x10000;
    } else {
        return std::nullopt;
    }
    if (text.size() < bytes) return std::nullopt;
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
        code = (code << 6) | (byte(i) & 0x3fu);
    }
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return std::nullopt;
    return Character{code, bytes};
}

bool is_control(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

// Collects the stretch since the last newline or tab and decides how it goes in.
class Planner {
  public:
    explicit Planner(TypeMethod method) : method_(method) {}
    void add(std::string_view bytes) {
        stretch_ += bytes;
        ++characters_;
        ascii_ = ascii_ && bytes.size() == 1;
    }
    void add_key(char key) {
        if (method_ == TypeMethod::Paste) {
            stretch_ += key;
            return;
        }
        finish_stretch();
        append_keys(std::string_view{&key, 1});
    }
    std::vector<TextRun> finish() {
        finish_stretch();
        return std::move(runs_);
    }

  private:
    void finish_stretch() {
        if (!stretch_.empty()) {
            const bool by_keys = method_ == TypeMethod::Keys ||
                                 (method_ == TypeMethod::Auto && ascii_ && characters_ <= kLongestTypedRun);
            if (by_keys) {
                append_keys(stretch_);
            } else {
                runs_.push_back({TextRun::How::Paste, stretch_, ascii_ && method_ == TypeMethod::Auto});
            }
        }
        stretch_.clear();
        characters_ = 0;
        ascii_ = true;
    }
    void append_keys(std::string_view keys) {
        if (runs_.empty() || runs_.back().how != TextRun::How::Keys)
            runs_.push_back({TextRun::How::Keys, {}, false});
        runs_.back().text += keys;
    }

    const TypeMethod method_;
    std::vector<TextRun> runs_;
    std::string stretch_;
    std::size_t characters_ = 0;
    bool ascii_ = true;
};

}  // namespace

Result<std::vector<TextRun>> plan_text(std::string_view text, TypeMethod method) {
    Planner planner{method};
    std::size_t position = 0;  // in characters, from 1 as people count
    for (std::size_t at = 0; at < text.size();) {
        if (++position > kLongestText)
            return fail(Errc::TooLarge, fmt::format("the text has more than {} characters", kLongestText),
                        "type it in parts");
        const auto character = decode(text.substr(at));
        if (!character)
            return fail(
                Errc::InvalidArgument,
                fmt::format("the text is not valid UTF-8 at character {} (byte {})", position, at + 1));
        if (character->code == '\r' || character->code == '\n') {
            planner.add_key('\n');
            if (text.substr(at, 2) == "\r\n") ++at;
        } else if (character->code == '\t') {
            planner.add_key('\t');
        } else if (is_control(character->code)) {
            return fail(
                Errc::InvalidArgument,
                fmt::format(
                    "character {} of the text is the control character U+{:04X}, which cannot be typed",
                    position, character->code),
                "use the action 'key' for keys such as Escape or BackSpace");
        } else if (method == TypeMethod::Keys && character->bytes > 1) {
            return fail(Errc::InvalidArgument,
                        fmt::format("character {} of the text, '{}', is on no key of a US keyboard", position,
                                    text.substr(at, character->bytes)),
                        "leave out the method \"keys\": then it is pasted");
        } else {
            planner.add(text.substr(at, character->bytes));
        }
        at += character->bytes;
    }
    return planner.finish();
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/key_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "hostd/desktop/key_name_table.h"
#include "hostd/desktop/text_plan.h"

namespace dormouse::desktop {

namespace {

constexpr std::size_t kLongestKeyText = 1000;
constexpr std::size_t kLongestShown = 40;
constexpr std::string_view kSpaces = " \t\r\n";

char lower(char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

// Names are compared without case and '_': Page_Up, page_up and PageUp are one.
std::string normalised(std::string_view name) {
    std::string result;
    for (const char character : name)
        if (character != '_') result += lower(character);
    return result;
}

const std::map<std::string, Keystroke, std::less<>>& names() {
    static const auto all = [] {
        std::map<std::string, Keystroke, std::less<>> map;
        for (const auto& entry : kKeyNames)
            map.emplace(normalised(entry.name), Keystroke{entry.key, entry.shift});
        for (const auto& entry : kCharacterNames)
            if (const auto stroke = us_keystroke(entry.character))
                map.emplace(normalised(entry.name), *stroke);
        return map;
    }();
    return all;
}

bool is_shift(QKeyCode key) {
    return key == "shift" || key == "shift_r";
}

bool is_upper_letter(std::string_view name) {
    return name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z';
}

// ---- what to say about a name that is not known

// The number of letters to change, add or drop to get from one to the other.
std::size_t distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

// "Return", "Up or Page_Up"; empty when nothing is near.
std::string near_matches(std::string_view name) {
    constexpr std::size_t kMostMatches = 3;
    const auto wanted = normalised(name);
    if (wanted.size() < 2 || wanted.size() > kLongestShown) return {};
    const std::size_t limit = std::clamp<std::size_t>(wanted.size() / 3, 1, 3);
    std::vector<std::pair<std::size_t, std::string_view>> found;
    const auto look_at = [&](std::string_view candidate) {
        const auto off = distance(wanted, normalised(candidate));
        if (off <= limit) found.emplace_back(off, candidate);
    };
    for (const auto& entry : kKeyNames) look_at(entry.name);
    for (const auto& entry : kCharacterNames) look_at(entry.name);
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    const std::size_t count = std::min(found.size(), kMostMatches);
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) text += i + 1 == count ? " or " : ", ";
        text += found[i].second;
    }
    return text;
}

// The name as it may stand in a message: short, valid UTF-8, no controls.
std::string shown(std::string_view name) {
    if (name.size() <= kLongestShown && plan_text(name)) return std::string{name};
    std::string text;
    for (const char character : name.substr(0, kLongestShown))
        text += character >= ' ' && character <= '~' ? character : '?';
    return name.size() > kLongestShown ? text + "..." : text;
}

// One character, but none of a US keyboard: "é", "日".
bool is_foreign_character(std::string_view name) {
    if (name.empty() || static_cast<unsigned char>(name[0]) < 0x80 || !plan_text(name)) return false;
    const auto characters = std::count_if(name.begin(), name.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
    });
    return characters == 1;
}

bool is_missing_function_key(std::string_view name) {
    const auto key = normalised(name);
    return key.size() == 3 && key[0] == 'f' &&
           ((key[1] == '1' && key[2] >= '3' && key[2] <= '9') ||
            (key[1] == '2' && key[2] >= '0' && key[2] <= '4'));
}

tl::unexpected<Error> unknown_key(std::string_view name) {
    auto message = fmt::format("there is no key '{}'", shown(name));
    if (is_foreign_character(name))
        return fail(Errc::InvalidArgument, fmt::format("the keyboard has no key '{}'", shown(name)),
                    "keys are those of a US keyboard; to write this character use the action 'type'");
    if (is_missing_function_key(name))
        return fail(Errc::InvalidArgument, std::move(message), "the keyboard has F1 to F12");
    // Only joined by another sign? (No '-' is left then, so this ends.)
    if (name.find('-') != std::string_view::npos) {
        std::string joined{name};
        std::replace(joined.begin(), joined.end(), '-', '+');
        if (parse_keys(joined))
            return fail(Errc::InvalidArgument, std::move(message), fmt::format("did you mean {}?", joined));
    }
    if (const auto near = near_matches(name); !near.empty())
        return fail(Errc::InvalidArgument, std::move(message), fmt::format("did you mean {}?", near));
    return fail(
        Errc::InvalidArgument, std::move(message),
        "keys are named as in xdotool: Return, Escape, F5, ctrl+s; to write text use the action 'type'");
}

// ---- reading

Result<std::vector<std::string_view>> split_chord(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0;;) {
        if (at == text.size())
            return fail(Errc::InvalidArgument, fmt::format("'{}' ends where a key is expected", shown(text)),
                        "the key + itself is written plus, as in ctrl+plus");
        // A '+' where a name should begin is the key itself.
        auto end = text[at] == '+' ? at + 1 : text.find('+', at);
        if (end == std::string_view::npos) end = text.size();
        parts.push_back(text.substr(at, end - at));
        if (end == text.size()) return parts;
        if (text[end] != '+')
            return fail(Errc::InvalidArgument, fmt::format("'{}' has no + between two keys", shown(text)),
                        "keys that are held together are joined by +, as in ctrl+shift+t");
        at = end + 1;
    }
}

Result<Keystroke> find_key(std::string_view name) {
    if (name.size() == 1)
        if (const auto stroke = us_keystroke(name[0])) return *stroke;
    if (const auto found = names().find(normalised(name)); found != names().end()) return found->second;
    return unknown_key(name);
}

Result<Chord> parse_chord(std::string_view text) {
    DORMOUSE_TRY_ASSIGN(const auto parts, split_chord(text));
    if (parts.size() > kMostKeysInChord)
        return fail(Errc::InvalidArgument,
                    fmt::format("'{}' has more than {} keys at once", shown(text), kMostKeysInChord),
                    "separate keys that are pressed one after the other by spaces");
    std::vector<std::pair<std::string_view, Keystroke>> keys;
    bool commanding = false;  // Ctrl, Alt or Super is among them
    for (const auto part : parts) {
        DORMOUSE_TRY_ASSIGN(const auto stroke, find_key(part));
        keys.emplace_back(part, stroke);
        if (is_modifier(stroke.key) && !is_shift(stroke.key)) commanding = true;
    }
    Chord chord;
    const auto add = [&chord](QKeyCode key) {
        const bool fresh = std::find(chord.keys.begin(), chord.keys.end(), key) == chord.keys.end();
        if (fresh) chord.keys.push_back(key);
        return fresh;
    };
    bool shift = false;
    for (const auto& [name, stroke] : keys) {
        if (is_modifier(stroke.key) && !add(stroke.key))
            return fail(Errc::InvalidArgument,
                        fmt::format("'{}' names the key '{}' twice", shown(text), shown(name)));
        if (stroke.shift && !(commanding && is_upper_letter(name))) shift = true;
    }
    if (shift && std::none_of(chord.keys.begin(), chord.keys.end(), is_shift)) add(kShiftKey);
    for (const auto& [name, stroke] : keys)
        if (!is_modifier(stroke.key) && !add(stroke.key))
            return fail(Errc::InvalidArgument,
                        fmt::format("'{}' names the key '{}' twice", shown(text), shown(name)));
    return chord;
}

// "Page Down" is one key to people, and two here.
Error meant_as_one(std::string_view text, Error error) {
    std::string joined{text};
    std::erase_if(joined, [](char character) { return kSpaces.find(character) != std::string_view::npos; });
    if (joined.size() == text.size()) return error;
    const auto found = names().find(normalised(joined));
    if (found == names().end()) return error;
    for (const auto& entry : kKeyNames) {
        if (normalised(entry.name) != found->first) continue;
        error.hint = fmt::format("did you mean {}? Spaces separate keys that are pressed one after the other",
                                 entry.name);
        break;
    }
    return error;
}

}  // namespace

bool is_modifier(QKeyCode key) {
    static constexpr std::array<QKeyCode, 8> kModifiers{"shift", "shift_r", "ctrl",   "ctrl_r",
                                                        "alt",   "alt_r",   "meta_l", "meta_r"};
    return std::find(kModifiers.begin(), kModifiers.end(), key) != kModifiers.end();
}

std::string join_keys(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : "+") + (name == " " ? "space" : name);
    return text;
}

Result<Chord> parse_held(std::string_view text) {
    if (text.empty()) return Chord{};
    DORMOUSE_TRY_ASSIGN(auto chords, parse_keys(text));
    if (chords.size() > 1)
        return fail(
            Errc::InvalidArgument,
            fmt::format("'{}' are {} combinations, and only one can be held", shown(text), chords.size()),
            "join keys that are held together by +, as in ctrl+shift");
    return std::move(chords.front());
}

Result<std::vector<Chord>> parse_keys(std::string_view text) {
    if (text.size() > kLongestKeyText)
        return fail(Errc::InvalidArgument, fmt::format("the keys are longer than {} bytes", kLongestKeyText),
                    "to write text use the action 'type'");
    // A lone character is that key, also where it would separate others.
    if (text.size() == 1)
        if (const auto stroke = us_keystroke(text[0]); stroke && !stroke->shift)
            return std::vector{Chord{{stroke->key}}};
    std::vector<Chord> chords;
    for (auto rest = text;;) {
        const auto start = rest.find_first_not_of(kSpaces);
        if (start == std::string_view::npos) break;
        rest.remove_prefix(start);
        const auto word = rest.substr(0, rest.find_first_of(kSpaces));
        if (chords.size() == kMostChords)
            return fail(Errc::InvalidArgument, fmt::format("more than {} keys in one action", kMostChords));
        auto chord = parse_chord(word);
        if (!chord) return fail(meant_as_one(text, std::move(chord.error())));
        chords.push_back(std::move(*chord));
        rest.remove_prefix(word.size());
    }
    if (chords.empty())
        return fail(Errc::InvalidArgument, "no key is named", "for example: Return, ctrl+s, F5, space");
    return chords;
}

const std::vector<QKeyCode>& pressable_keys() {
    static const auto all = [] {
        std::vector<QKeyCode> keys;
        const auto add = [&keys](QKeyCode key) {
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
        };
        for (const auto& entry : kKeyNames) add(entry.key);
        for (char character = ' '; character <= '~'; ++character)
            if (const auto stroke = us_keystroke(character)) add(stroke->key);
        return keys;
    }();
    return all;
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
// Key names and texts come from the network. Whatever is read as keys must be
// pressable; whatever is refused must make a message that JSON can carry.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "hostd/base/check.h"
#include "hostd/desktop/key_names.h"
#include "hostd/desktop/keymap.h"
#include "hostd/desktop/text_plan.h"

namespace {

using namespace dormouse::desktop;

void check_error(const dormouse::Error& error) {
    DORMOUSE_CHECK(error.message.size() < 400);
    const nlohmann::json text{{"message", error.message}, {"hint", error.hint}};
    DORMOUSE_CHECK(!text.dump().empty());  // throws for invalid UTF-8
}

void check_chord(const Chord& chord) {
    DORMOUSE_CHECK(!chord.keys.empty());
    const auto& pressable = pressable_keys();
    for (auto key = chord.keys.begin(); key != chord.keys.end(); ++key) {
        DORMOUSE_CHECK(std::find(pressable.begin(), pressable.end(), *key) != pressable.end());
        DORMOUSE_CHECK(std::find(std::next(key), chord.keys.end(), *key) == chord.keys.end());
    }
}

void check_text(std::string_view text, TypeMethod method) {
    const auto plan = plan_text(text, method);
    if (!plan) return check_error(plan.error());
    DORMOUSE_CHECK(method != TypeMethod::Paste || plan->size() <= 1);
    for (const auto& run : *plan) {
        DORMOUSE_CHECK(!run.text.empty());
        DORMOUSE_CHECK(method != TypeMethod::Keys || run.how == TextRun::How::Keys);
        if (run.how == TextRun::How::Keys || run.keys_too)
            for (const char character : run.text) DORMOUSE_CHECK(us_keystroke(character).has_value());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (const auto chords = parse_keys(text)) {
        DORMOUSE_CHECK(!chords->empty() && chords->size() <= kMostChords);
        for (const auto& chord : *chords) check_chord(chord);
    } else {
        check_error(chords.error());
    }
    if (const auto held = parse_held(text)) {
        if (!held->keys.empty()) check_chord(*held);
    } else {
        check_error(held.error());
    }
    for (const auto method : {TypeMethod::Auto, TypeMethod::Keys, TypeMethod::Paste})
        check_text(text, method);
    return 0;
}

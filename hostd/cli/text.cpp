// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace dormouse::cli {

std::string plain(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        // U+0080 to U+009F are control characters too.
        const bool high_control =
            byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
        if (high_control) ++i;
        const bool control = byte < 0x20 || byte == 0x7f || high_control;
        shown += control ? '?' : text[i];
    }
    return shown;
}

std::string relative_time(WallTime then, WallTime now) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - then).count();
    if (seconds < 5) return "just now";  // also where the clocks differ
    if (seconds < 60) return fmt::format("{} s ago", seconds);
    if (seconds < 60 * 60) return fmt::format("{} min ago", seconds / 60);
    if (seconds < 48 * 60 * 60) return fmt::format("{} h ago", seconds / (60 * 60));
    return fmt::format("{} days ago", seconds / (24 * 60 * 60));
}

std::string human_size(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    constexpr std::array kUnits{"KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
    return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string styled(std::string_view text, Style style, bool colour) {
    const auto with = [&](std::string_view code) { return fmt::format("\x1b[{}m{}\x1b[0m", code, text); };
    if (!colour || text.empty()) return std::string{text};
    switch (style) {
        case Style::None:
            break;
        case Style::Bold:
            return with("1");
        case Style::Dim:
            return with("2");
        case Style::Green:
            return with("32");
        case Style::Yellow:
            return with("33");
        case Style::Red:
            return with("31");
    }
    return std::string{text};
}

Style style_of_state(std::string_view state) {
    if (state == "running") return Style::Green;
    if (state == "failed") return Style::Red;
    if (state == "stopped") return Style::Dim;
    return Style::Yellow;
}

}  // namespace dormouse::cli

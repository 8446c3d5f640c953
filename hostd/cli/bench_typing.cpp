// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/bench.h"

namespace dormouse::cli::bench {

namespace {

constexpr int kLength = 1000;
constexpr int kMostRuns = 5;
constexpr auto kLongest = std::chrono::seconds{60};

// The length that the usual way is given: it takes more than a minute for all.
constexpr int kBaselineLength = 200;

// A part of the page beside the text area: red until the text is there exactly.
constexpr schema::Region kMarker{1000, 500, 16, 16};

constexpr const char* kPage =
    "<!DOCTYPE html><title>bench</title><body style='margin:0;height:100vh;background:#c00'>"
    "<textarea id=t autofocus style='width:50vw;height:80vh'></textarea><script>const want = '{}'; "
    "const t = document.getElementById('t'); t.oninput = () => "
    "{{ document.body.style.background = t.value === want ? '#0a0' : '#c00'; }};</script>";

std::string sample_text(int length) {
    constexpr std::string_view kWords = "The quick brown fox jumps over the lazy dog, 0123456789 times. ";
    std::string text;
    while (text.size() < static_cast<std::size_t>(length)) text += kWords;
    text.resize(static_cast<std::size_t>(length));
    return text;
}

Result<std::string> look_at_marker(Context& context, const Desktop& desktop) {
    DORMOUSE_TRY_ASSIGN(auto shot, context.client().screenshot(desktop.name(), {.region = kMarker}));
    return std::move(shot.bytes);
}

// Until the marker looks otherwise than `red`.
Result<> wait_exact(Context& context, const Desktop& desktop, const std::string& red) {
    const auto deadline = context.clock().now() + kLongest;
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const auto now, look_at_marker(context, desktop));
        if (now != red) return {};
        if (context.clock().now() > deadline)
            return fail(Errc::Timeout, "the text did not arrive, or not exactly");
        context.pause(std::chrono::milliseconds{5});
    }
}

Result<> clear(Context& context, const Desktop& desktop, const std::string& red) {
    schema::ActionsRequest request;
    request.actions.push_back({.kind = schema::ActionKind::Key, .text = "ctrl+a"});
    request.actions.push_back({.kind = schema::ActionKind::Key, .text = "Delete"});
    DORMOUSE_TRY(desktop.act(request));
    const auto deadline = context.clock().now() + kLongest;
    for (;;) {
        DORMOUSE_TRY_ASSIGN(const auto now, look_at_marker(context, desktop));
        if (now == red) return {};
        if (context.clock().now() > deadline)
            return fail(Errc::Timeout, "the text area could not be emptied");
        context.pause(std::chrono::milliseconds{50});
    }
}

Result<Baseline> measure_xdotool(Context& context, const Desktop& desktop) {
    const auto line = fmt::format("xdotool type --delay 75 '{}'", sample_text(kBaselineLength));
    DORMOUSE_TRY_ASSIGN(const double took, timed(context.clock(), [&]() -> Result<> {
                            DORMOUSE_TRY(desktop.run(line, std::chrono::seconds{300}));
                            return {};
                        }));
    return Baseline{fmt::format("xdotool type --delay 75 ({} characters, times {})", kBaselineLength,
                                kLength / kBaselineLength),
                    took * kLength / kBaselineLength};
}

}  // namespace

// A thousand characters into a text area of the browser, until all of them are
// on the screen exactly.
Result<Measurements> typing(Context& context, int count) {
    DORMOUSE_TRY_ASSIGN(const auto desktop, Desktop::create(context));
    const auto text = sample_text(kLength);
    DORMOUSE_TRY(desktop.write("/tmp/bench-typing.html", fmt::format(fmt::runtime(kPage), text)));
    DORMOUSE_TRY(desktop.open_page("file:///tmp/bench-typing.html"));
    schema::ActionsRequest focus;
    focus.actions.push_back({.kind = schema::ActionKind::LeftClick, .coordinate = schema::Point{300, 400}});
    focus.screenshot = schema::WithScreenshot::Settled;
    DORMOUSE_TRY(desktop.act(focus));
    DORMOUSE_TRY_ASSIGN(const auto red, look_at_marker(context, desktop));

    Measurement typed{.name = "type_1000"};
    schema::ActionsRequest request;
    request.actions.push_back({.kind = schema::ActionKind::Type, .text = text});
    for (int i = 0; i < std::min(count, kMostRuns); ++i) {
        DORMOUSE_TRY_ASSIGN(const double took, timed(context.clock(), [&]() -> Result<> {
                                DORMOUSE_TRY(desktop.act(request));
                                return wait_exact(context, desktop, red);
                            }));
        typed.samples.push_back(took);
        DORMOUSE_TRY(clear(context, desktop, red));
    }
    DORMOUSE_TRY_ASSIGN(typed.baseline, measure_xdotool(context, desktop));
    return Measurements{std::move(typed)};
}

}  // namespace dormouse::cli::bench

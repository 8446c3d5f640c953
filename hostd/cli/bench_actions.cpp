// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "hostd/cli/bench.h"

namespace dormouse::cli::bench {

namespace {

constexpr int kBaselineCount = 3;
constexpr schema::Point kInThePage{1000, 500};

constexpr const char* kPage =
    "<!DOCTYPE html><title>bench</title><body "
    "style='margin:0;height:100vh;background:#c00;color:#fff;font:40px sans-serif'>"
    "<p id=n>0</p><script>let n = 0; document.body.onclick = () => { "
    "document.getElementById('n').textContent = ++n; "
    "document.body.style.background = n % 2 ? '#0a0' : '#c00'; };</script>";

// How others do it: act, wait for two seconds in the hope that it is over, look.
constexpr const char* kUsualWay =
    "for i in $(seq {}); do a=$(date +%s%N); xdotool mousemove {} {} click 1; sleep 2; scrot -o "
    "/tmp/bench.png; "
    "b=$(date +%s%N); echo $(( (b - a) / 1000 )); done";

Result<Baseline> measure_usual_way(const Desktop& desktop) {
    DORMOUSE_TRY_ASSIGN(const auto text, desktop.run(fmt::format(fmt::runtime(kUsualWay), kBaselineCount,
                                                                 kInThePage.x, kInThePage.y)));
    std::istringstream lines{text};
    std::vector<double> samples;
    for (double microseconds = 0; lines >> microseconds;) samples.push_back(microseconds / 1000);
    if (samples.empty()) return fail(Errc::Internal, "the usual way did not say how long it took");
    return Baseline{"xdotool, 2 s of pause, scrot", summarise(std::move(samples)).median};
}

}  // namespace

// A click whose effect is a page of another colour, until the settled picture
// of it is here.
Result<Measurements> actions(Context& context, int count) {
    DORMOUSE_TRY_ASSIGN(const auto desktop, Desktop::create(context));
    DORMOUSE_TRY(desktop.write("/tmp/bench-actions.html", kPage));
    DORMOUSE_TRY(desktop.open_page("file:///tmp/bench-actions.html"));
    Measurement settled{.name = "action_to_settled"};
    schema::ActionsRequest request;
    request.actions.push_back({.kind = schema::ActionKind::LeftClick, .coordinate = kInThePage});
    request.screenshot = schema::WithScreenshot::Settled;
    for (int i = 0; i < count; ++i) {
        schema::ActionsResponse response;
        DORMOUSE_TRY_ASSIGN(const double took, timed(context.clock(), [&]() -> Result<> {
                                DORMOUSE_TRY_ASSIGN(response, desktop.act(request));
                                return {};
                            }));
        if (!response.settling || !response.settling->settled || !response.changed ||
            response.changed->empty())
            return fail(Errc::Internal,
                        "the screen did not show the effect of a click, or did not come to rest");
        settled.samples.push_back(took);
    }
    DORMOUSE_TRY_ASSIGN(settled.baseline, measure_usual_way(desktop));
    return Measurements{std::move(settled)};
}

}  // namespace dormouse::cli::bench

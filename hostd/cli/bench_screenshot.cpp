// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <sstream>

#include "hostd/cli/bench.h"

namespace dormouse::cli::bench {

namespace {

constexpr int kLooksForAChange = 50;  // for each picture of a changed screen that is wanted
constexpr int kBaselineCount = 10;

// Something that changes more often than anybody can look: a clock of
// nanoseconds, in a window of its own.
constexpr const char* kStartClock =
    "nohup xterm -geometry 60x12+40+40 -e 'while :; do date +%N; sleep 0.02; done' >/dev/null 2>&1 & sleep 3";
constexpr const char* kStopClock = "pkill xterm; sleep 1";

// How others do it: a program inside takes the picture. Each line is
// milliseconds; to bring the file out comes on top of that, and is not counted.
constexpr const char* kScrot =
    "for i in $(seq {}); do a=$(date +%s%N); scrot -o /tmp/bench.png; b=$(date +%s%N); "
    "echo $(( (b - a) / 1000 )); done";

Result<Baseline> measure_scrot(const Desktop& desktop) {
    DORMOUSE_TRY_ASSIGN(const auto text, desktop.run(fmt::format(fmt::runtime(kScrot), kBaselineCount)));
    std::istringstream lines{text};
    std::vector<double> samples;
    for (double microseconds = 0; lines >> microseconds;) samples.push_back(microseconds / 1000);
    if (samples.empty()) return fail(Errc::Internal, "scrot inside the desktop did not say how long it took");
    return Baseline{"scrot inside the desktop", summarise(std::move(samples)).median};
}

}  // namespace

Result<Measurements> screenshot(Context& context, int count) {
    DORMOUSE_TRY_ASSIGN(const auto desktop, Desktop::create(context));
    auto& client = context.client();
    Measurement unchanged{.name = "screenshot_unchanged"};
    Measurement changed{.name = "screenshot_changed"};

    DORMOUSE_TRY(client.screenshot(desktop.name()));
    for (int i = 0; i < count; ++i) {
        DORMOUSE_TRY_ASSIGN(const double took, timed(context.clock(), [&]() -> Result<> {
                                DORMOUSE_TRY(client.screenshot(desktop.name()));
                                return {};
                            }));
        unchanged.samples.push_back(took);
    }

    DORMOUSE_TRY(desktop.run(kStartClock));
    std::string last;
    for (int i = 0; i < count * kLooksForAChange && changed.samples.size() < static_cast<std::size_t>(count);
         ++i) {
        std::string etag;
        DORMOUSE_TRY_ASSIGN(const double took, timed(context.clock(), [&]() -> Result<> {
                                DORMOUSE_TRY_ASSIGN(const auto shot, client.screenshot(desktop.name()));
                                etag = shot.etag;
                                return {};
                            }));
        if (etag != last && !last.empty()) changed.samples.push_back(took);
        last = etag;
        context.pause(std::chrono::milliseconds{30});
    }
    DORMOUSE_TRY(desktop.run(kStopClock));
    DORMOUSE_TRY_ASSIGN(const auto scrot, measure_scrot(desktop));
    unchanged.baseline = scrot;
    changed.baseline = scrot;
    return Measurements{std::move(unchanged), std::move(changed)};
}

}  // namespace dormouse::cli::bench

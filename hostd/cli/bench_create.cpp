// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/bench.h"

namespace dormouse::cli::bench {

// A desktop that answers and shows itself, and is deleted again. The usual way
// to get one, a boot, takes more than a minute: it is not measured each time.
Result<Measurements> create(Context& context, int count) {
    Measurement made{.name = "create"};
    Measurement shown{.name = "create_to_screenshot"};
    Measurement removed{.name = "delete"};
    for (int i = 0; i < count; ++i) {
        const auto began = context.clock().now();
        const auto since = [&] {
            return std::chrono::duration<double, std::milli>(context.clock().now() - began).count();
        };
        DORMOUSE_TRY_ASSIGN(const auto desktop, context.client().create_desktop({}));
        made.samples.push_back(since());
        const auto picture = context.client().screenshot(desktop.name);
        shown.samples.push_back(since());
        DORMOUSE_TRY_ASSIGN(const double took, timed(context.clock(), [&] {
                                return context.client().delete_desktop(desktop.name);
                            }));
        removed.samples.push_back(took);
        if (!picture) return fail(picture.error());
    }
    return Measurements{std::move(made), std::move(shown), std::move(removed)};
}

}  // namespace dormouse::cli::bench

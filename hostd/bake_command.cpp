// SPDX-License-Identifier: Apache-2.0
#include "hostd/bake_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "hostd/base/file.h"
#include "hostd/desktop/template_bake.h"
#include "hostd/signals.h"

namespace dormouse {

namespace {

// The step with its number's digits removed: "booting (12 s)" is one step.
std::string step_kind(const std::string& step) {
    return step.substr(0, step.find(" ("));
}

class ProgressLine {
  public:
    explicit ProgressLine(const Clock& clock)
        : clock_(clock), start_(clock.now()), terminal_(::isatty(STDOUT_FILENO) == 1) {}

    void show(double done, const std::string& step) {
        const auto passed = std::chrono::duration_cast<std::chrono::seconds>(clock_.now() - start_).count();
        const auto line =
            fmt::format("  [{:3.0f} %] {:2d}:{:02d}  {}", done * 100, passed / 60, passed % 60, step);
        if (terminal_) {
            fmt::print("\r\x1b[K{}", line);
            if (done >= 1) fmt::print("\n");
        } else if (step_kind(step) != last_) {
            fmt::print("{}\n", line);
        }
        last_ = step_kind(step);
        std::fflush(stdout);
    }
    void end() {
        if (terminal_ && !last_.empty()) fmt::print("\n");
    }

  private:
    const Clock& clock_;
    MonotonicTime start_;
    bool terminal_;
    std::string last_;
};

}  // namespace

Result<> run_bake(desktop::Host& host, const BakeCommand& command) {
    namespace fs = std::filesystem;
    const auto source = fs::absolute(command.source).lexically_normal();
    const auto file =
        command.recipe.empty() ? source / "assets/templates/desktop.toml" : fs::absolute(command.recipe);
    const auto agent = command.agent.empty() ? host.keeper_binary.parent_path() / "dormouse-guestd"
                                             : fs::absolute(command.agent);
    DORMOUSE_TRY_ASSIGN(const auto text, read_file(file, desktop::kMostRecipeBytes));
    auto recipe = desktop::parse_recipe(text, desktop::surroundings_in(source));
    if (!recipe) return fail_in(file.string(), recipe.error());
    ProgressLine line{host.loop.clock()};
    desktop::BakeOptions options{
        .recipe = std::move(*recipe),
        .recipe_text = text,
        .inputs = {.builder = source / "guest/image/build-rootfs.sh", .agent_binary = agent},
        .progress = [&line](double done, const std::string& step) { line.show(done, step); }};
    const auto cancelled = options.cancelled;
    const auto signals = SignalWatch::open(host.loop, [cancelled](int) { cancelled->store(true); });
    if (!signals) return fail(signals.error());
    const auto made = host.loop.run_until_complete(desktop::bake_template(host, std::move(options)));
    if (!made) {
        line.end();
        return fail_in(fmt::format("cannot bake {}", file.string()), made.error());
    }
    fmt::print("template '{}' ({}) is ready\n", made->name.str(), made->hash);
    return {};
}

}  // namespace dormouse

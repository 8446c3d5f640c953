// SPDX-License-Identifier: Apache-2.0
// dormoused: the host daemon. The composition root: what the program is made of
// is put together here and in daemon.cpp, and nowhere else.
#include <fmt/core.h>
#include <sodium.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "hostd/bake_command.h"
#include "hostd/base/log.h"
#include "hostd/daemon.h"
#include "hostd/signals.h"

namespace {

// QEMU's disk locking, memory splitting and PNG encoding each keep a thread busy for a while.
constexpr unsigned kPoolThreads = 4;

int complain(const dormouse::Error& error) {
    fmt::print(stderr, "dormoused: {}\n", error.message);
    if (!error.hint.empty()) fmt::print(stderr, "  {}\n", error.hint);
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace dormouse;
    CLI::App app{"The Dormouse host daemon: runs desktops and serves their API until it is told to stop."};
    bool verbose = false;
    app.add_flag("--verbose", verbose, "Also log what is only of interest while looking for a fault");
    app.set_version_flag("--version", DORMOUSE_VERSION);
    BakeCommand bake;
    auto* bake_app =
        app.add_subcommand("bake", "Make a template from its recipe, unless it is there already");
    bake_app->add_option("--source", bake.source, "The folder with assets/ and guest/ (a checkout)")
        ->required();
    bake_app->add_option("--recipe", bake.recipe, "The recipe (default: the built-in desktop)");
    bake_app->add_option("--agent", bake.agent,
                         "The guest agent (default: dormouse-guestd beside this program)");
    CLI11_PARSE(app, argc, argv);

    block_signals();
    ::umask(0077);
    if (sodium_init() < 0) return complain({Errc::Internal, "libsodium cannot start", {}, 0});
    // A bake shows its progress instead.
    log::set_level(verbose ? log::Level::Debug : *bake_app ? log::Level::Error : log::Level::Info);

    auto config = load_config();
    if (!config) return complain(config.error());
    const SystemClock clock;
    EventLoop loop{clock};
    WorkPool pool{kPoolThreads};
    auto host = look_at_host(std::move(*config), loop, pool);
    if (!host) return complain(host.error());

    const auto done = *bake_app ? run_bake(*host, bake) : run_daemon(*host);
    return done ? 0 : complain(done.error());
}

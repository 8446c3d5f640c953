// SPDX-License-Identifier: Apache-2.0
// dormouse: the command line. Sees nothing but the API and this machine.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "hostd/cli/app.h"

int main(int argc, char** argv) {
    using namespace dormouse;
    std::ios::sync_with_stdio(false);
    const bool out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
    const char* no_colour = ::getenv("NO_COLOR");
    const char* kind = ::getenv("TERM");
    const bool plain_only = (no_colour && *no_colour) || (kind && std::string_view{kind} == "dumb");
    cli::Streams streams{.in = std::cin,
                         .out = std::cout,
                         .err = std::cerr,
                         .out_is_terminal = out_is_terminal,
                         .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
                         .colour = out_is_terminal && !plain_only};
    const SystemClock clock;
    // The script at the checkout's root calls this with a path; who has it in the
    // PATH types the bare name.
    const std::string_view called = argc > 0 ? argv[0] : "dormouse";
    const cli::World world{.connect = cli::connection_from_environment,
                           .clock = clock,
                           .pause = [](Duration time) { std::this_thread::sleep_for(time); },
                           .program = called.find('/') == std::string_view::npos ? "dormouse" : "./dormouse"};
    try {
        const int code = cli::run({argv + std::min(argc, 1), argv + argc}, streams, world);
        if (std::cout.flush()) return code;
        cli::complain(streams, {Errc::Io, "the output could not be written", {}, 0});
    } catch (const std::exception& error) {
        cli::complain(streams, {Errc::Internal, error.what(), {}, 0});
    }
    return cli::kFailure;
}

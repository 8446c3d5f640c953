// SPDX-License-Identifier: Apache-2.0
// dormouse-guestd: the agent inside a desktop. Runs as root.
#include <signal.h>
#include <sys/signalfd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "guest/agent/dispatcher.h"
#include "guest/agent/port.h"
#include "guest/agent/watchdog.h"
#include "hostd/base/log.h"

namespace {

using namespace dormouse;

struct Options {
    std::string port = "/dev/virtio-ports/org.dormouse.agent";
    std::string display = ":0";
    bool debug = false;
};

constexpr std::string_view kUsage =
    "usage: dormouse-guestd [--port PATH] [--display DISPLAY] [--debug]\n"
    "\n"
    "Answers the host over a virtio-serial port. --display defaults to $DISPLAY, else :0.\n";

// The exit code, when there is nothing to run.
std::optional<int> parse(int argc, char** argv, Options& options) {
    if (const char* display = std::getenv("DISPLAY"); display && *display) options.display = display;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument{argv[i]};
        if (argument == "--debug") {
            options.debug = true;
        } else if (argument == "--port" && i + 1 < argc) {
            options.port = argv[++i];
        } else if (argument == "--display" && i + 1 < argc) {
            options.display = argv[++i];
        } else if (argument == "--help") {
            std::cout << kUsage;
            return 0;
        } else {
            std::cerr << kUsage;
            return 2;
        }
    }
    return std::nullopt;
}

// Blocked before any thread is started, so that only the loop sees them.
UniqueFd take_signals() {
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    ::sigaddset(&set, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    return UniqueFd{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (const auto code = parse(argc, argv, options)) return *code;
    if (options.debug) log::set_level(log::Level::Debug);

    const auto signals = take_signals();
    const SystemClock clock;
    EventLoop loop{clock};
    agent::LinuxSystem system{loop};
    const agent::Watchdog watchdog{loop};
    const auto services = agent::make_services(loop, system, options.display);

    agent::Port* port_pointer = nullptr;
    const auto dispatcher = agent::Dispatcher::create(services, [&](std::string bytes) {
        if (port_pointer) port_pointer->send(std::move(bytes));
    });
    agent::Port port{loop,
                     options.port,
                     {[&] { dispatcher->connected(); }, [&] { dispatcher->disconnected(); },
                      [&](std::string_view bytes) { dispatcher->on_bytes(bytes); }}};
    port_pointer = &port;
    const auto stop = loop.watch(signals.get(), POLLIN, [&](short) { loop.stop(); });

    log::info("agent.started", {{"port", options.port}, {"display", options.display}});
    loop.run();
    log::info("agent.stopped");
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// dormouse-netd RUN_FOLDER: started by dormouse-keeper, one for each desktop. Its
// configuration comes on standard input; the argument only tells who it is.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>

#include "hostd/base/event_loop.h"
#include "hostd/base/log.h"
#include "vmm/net/confine.h"
#include "vmm/net/netd.h"

namespace {

using namespace dormouse;

constexpr std::size_t kLongestConfig = 1 << 20;

Result<std::string> read_standard_input() {
    std::string text;
    char buffer[4096];
    for (;;) {
        const auto got = ::read(0, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno("cannot read the configuration");
        if (got == 0) return text;
        text.append(buffer, static_cast<std::size_t>(got));
        if (text.size() > kLongestConfig) return fail(Errc::TooLarge, "the configuration is too long");
    }
}

Result<> serve() {
    DORMOUSE_TRY_ASSIGN(const auto text, read_standard_input());
    DORMOUSE_TRY_ASSIGN(auto config, net::parse_netd_config(text));
    const SystemClock clock;
    EventLoop loop{clock};
    DORMOUSE_TRY_ASSIGN(const auto netd, net::Netd::start(loop, std::move(config)));
    DORMOUSE_TRY(net::confine_this_process());
    netd->run();
    return {};
}

}  // namespace

int main(int argc, char**) {
    if (argc != 2) {
        std::fprintf(stderr,
                     "usage: dormouse-netd RUN_FOLDER <CONFIGURATION\nIt is started by dormouse-keeper, for "
                     "one desktop.\n");
        return 2;
    }
    ::signal(SIGPIPE, SIG_IGN);
    ::umask(0077);
    try {
        const auto served = serve();
        if (served) return 0;
        log::error("netd.failed", {{"why", served.error().message}});
    } catch (const std::exception& exception) {
        log::error("netd.unexpected", {{"what", exception.what()}});
    }
    return 1;
}

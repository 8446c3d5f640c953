// SPDX-License-Identifier: Apache-2.0
#include "hostd/signals.h"

#include <signal.h>
#include <sys/signalfd.h>

namespace dormouse {

namespace {

sigset_t ending() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

}  // namespace

void block_signals() {
    const auto set = ending();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
}

Result<SignalWatch> SignalWatch::open(EventLoop& loop, std::function<void(int signal)> callback) {
    const auto set = ending();
    SignalWatch made;
    made.fd_ = UniqueFd{::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!made.fd_) return fail_errno("cannot make a signalfd");
    made.watch_ =
        loop.watch(made.fd_.get(), POLLIN, [fd = made.fd_.get(), callback = std::move(callback)](short) {
            signalfd_siginfo info{};
            if (::read(fd, &info, sizeof info) == sizeof info) callback(static_cast<int>(info.ssi_signo));
        });
    return made;
}

}  // namespace dormouse

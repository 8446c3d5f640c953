// SPDX-License-Identifier: Apache-2.0
#include "hostd/cli/interruption.h"

namespace dormouse::cli {

namespace {

volatile sig_atomic_t signals_seen = 0;

void count_signal(int signal) {
    signals_seen = signals_seen + 1;
    if (signals_seen > 2) {
        ::signal(signal, SIG_DFL);
        ::raise(signal);
    }
}

}  // namespace

Interruption::Interruption() {
    signals_seen = 0;
    struct sigaction action {};
    action.sa_handler = count_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, &interrupt_before_);
    ::sigaction(SIGTERM, &action, &terminate_before_);
}

Interruption::~Interruption() {
    ::sigaction(SIGINT, &interrupt_before_, nullptr);
    ::sigaction(SIGTERM, &terminate_before_, nullptr);
}

bool Interruption::asked() const {
    return signals_seen > 0;
}

}  // namespace dormouse::cli

// SPDX-License-Identifier: Apache-2.0
#include "vmm/keeper_network.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "vmm/json_fields.h"

namespace dormouse::vmm {

KeeperNetwork::KeeperNetwork(EventLoop& loop, Spawner& spawner, std::filesystem::path binary,
                             std::filesystem::path run_folder, nlohmann::json config)
    : loop_(loop),
      spawner_(spawner),
      binary_(std::move(binary)),
      run_folder_(std::move(run_folder)),
      config_(std::move(config)) {}

KeeperNetwork::~KeeperNetwork() {
    loop_.cancel_timer(timer_);
    if (child_.pid <= 0) return;
    kill();
    wait_exit(child_);
}

void KeeperNetwork::start() {
    if (child_.pid > 0) return;
    loop_.cancel_timer(std::exchange(timer_, 0));
    started_ = loop_.clock().now();
    if (const auto started = try_start(); !started) {
        log::error("netd.not_started", {{"why", started.error().message}});
        start_later();
    }
}

Result<> KeeperNetwork::try_start() {
    // The configuration is a file without a name: what it says is not for others.
    const UniqueFd input{::memfd_create("netd-config", MFD_CLOEXEC)};
    if (!input) return fail_errno("cannot make a file in memory");
    DORMOUSE_TRY(write_all(input.get(), dump_json(config_)));
    if (::lseek(input.get(), 0, SEEK_SET) != 0) return fail_errno("cannot rewind a file in memory");
    CommandLine command;
    command.argv = {binary_.string(), run_folder_.string()};
    command.descriptors = {{0, input.get()}};
    command.die_with_parent = true;
    DORMOUSE_TRY_ASSIGN(child_, spawner_.start(command));
    watch_ = loop_.watch(child_.pidfd.get(), POLLIN, [this](short) { on_exit(); });
    log::info("netd.started", {{"pid", child_.pid}});
    return {};
}

void KeeperNetwork::on_exit() {
    watch_.reset();
    const auto status = wait_exit(child_);
    child_ = Child{};
    log::warn("netd.ended", {{"status", status.to_text()}});
    start_later();
}

void KeeperNetwork::start_later() {
    if (loop_.clock().now() - started_ >= kGoodRun) pause_ = kFirstPause;
    loop_.cancel_timer(timer_);
    timer_ = loop_.after(pause_, [this] {
        timer_ = 0;
        start();
    });
    pause_ = std::min(pause_ * 2, kLongestPause);
}

void KeeperNetwork::restart() {
    if (child_.pid > 0) kill();  // on_exit() starts the next
}

void KeeperNetwork::kill() {
    ::syscall(SYS_pidfd_send_signal, child_.pidfd.get(), SIGKILL, nullptr, 0);
}

}  // namespace dormouse::vmm

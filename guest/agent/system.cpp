// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/system.h"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>

#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/base/process.h"

namespace dormouse::agent {

namespace {

// The answer to the host has to be on its way before systemd ends us.
constexpr auto kPowerDelay = std::chrono::milliseconds{200};
constexpr auto kTrimTimeout = std::chrono::seconds{20};

Result<bool> quiesce_now() {
    ::sync();
    const UniqueFd caches{::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC)};
    if (!caches) return fail_errno("cannot drop the page cache");
    DORMOUSE_TRY(write_all(caches.get(), "3\n"));
    CommandLine trim;
    trim.argv = {"fstrim", "/"};
    RunOptions options;
    options.timeout = kTrimTimeout;
    return run_checked(trim, options).has_value();
}

}  // namespace

WallTime LinuxSystem::wall() const {
    return std::chrono::system_clock::now();
}

Result<> LinuxSystem::set_wall(WallTime time) {
    const auto count = time.time_since_epoch().count();
    timespec value{};
    value.tv_sec = static_cast<time_t>(count / 1'000'000'000);
    value.tv_nsec = static_cast<long>(count % 1'000'000'000);
    if (::clock_settime(CLOCK_REALTIME, &value) != 0) return fail_errno("cannot set the clock");
    return {};
}

double LinuxSystem::uptime_seconds() const {
    timespec value{};
    ::clock_gettime(CLOCK_BOOTTIME, &value);
    return static_cast<double>(value.tv_sec) + static_cast<double>(value.tv_nsec) / 1e9;
}

std::string LinuxSystem::boot_id() const {
    auto text = read_file("/proc/sys/kernel/random/boot_id", 128);
    if (!text) return {};
    while (!text->empty() && text->back() == '\n') text->pop_back();
    return *text;
}

Task<Result<bool>> LinuxSystem::quiesce() {
    return run_on(pool_, loop_, quiesce_now);
}

void LinuxSystem::power(PowerAction action) {
    loop_.after(kPowerDelay, [this, action] {
        pool_.post([action] {
            CommandLine command;
            command.argv = {"systemctl", action == PowerAction::Off ? "poweroff" : "reboot"};
            if (const auto done = run_checked(command); !done) {
                log::error("agent.power_failed", {{"why", done.error().message}});
            }
        });
    });
}

}  // namespace dormouse::agent

// SPDX-License-Identifier: Apache-2.0
// How a desktop comes to run and ends: the part of Desktop that moves its state.
#include <fcntl.h>

#include <algorithm>

#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/desktop/desktop.h"
#include "hostd/desktop/guest_ports.h"
#include "vmm/disk.h"
#include "vmm/guest_channel.h"

namespace dormouse::desktop {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// A wake takes a tenth of a second; a host whose processors are all busy may need this.
constexpr auto kWakeTimeout = 60s;
// A boot under emulation takes 45 to 80 s on an idle host.
constexpr auto kBootTimeout = 10min;
// From the agent's first answer to a desktop with its browser.
constexpr auto kDrawTimeout = 5min;
constexpr auto kBrowserPatience = 45s;
constexpr auto kCalmTimeout = 15s;
constexpr auto kStatusTimeout = 10s;
constexpr auto kStatusLook = 500ms;
// Closing programs and stopping services takes about 15 s under emulation.
constexpr auto kPowerOffTimeout = 90s;
constexpr auto kQuitGrace = 5s;
constexpr auto kDiskRetry = 5s;
constexpr const char* kDiskFull = "paused: the host's disk is full; the desktop goes on when there is space";

// Waits for the agent for as long as the machine runs and `wanted` says so.
Task<Result<>> wait_agent(EventLoop& loop, std::shared_ptr<vmm::Machine> machine, Duration timeout,
                          std::function<bool()> wanted) {
    const auto deadline = loop.clock().now() + timeout;
    while (machine->alive() && wanted()) {
        const auto slice = std::min<Duration>(500ms, deadline - loop.clock().now());
        if (slice <= Duration::zero())
            co_return fail(Errc::Timeout, "the agent in the desktop did not answer in time");
        const auto ready = co_await machine->guest().wait_ready(slice);
        if (ready) co_return Result<>{};
    }
    if (machine->alive()) co_return fail(Errc::Interrupted, "nobody waits any more");
    co_return fail(Errc::Unavailable,
                   fmt::format("QEMU ended: {}",
                               machine->exit_record() ? machine->exit_record()->to_text() : "unknown"));
}

}  // namespace

// ---- coming up

Task<Result<>> Desktop::make_disk() {
    DORMOUSE_CO_TRY(make_directories(folder(), 0700));
    DORMOUSE_CO_TRY(give_to_machine(host_, folder(), 0700));
    auto job = run_on(host_.pool, host_.loop, [disk = disk(), below = image_.disk()] {
        return vmm::create_overlay(disk, below, "qcow2");
    });
    DORMOUSE_CO_TRY(co_await std::move(job));
    co_return give_to_machine(host_, disk(), 0600);
}

LaunchPlan Desktop::launch_plan(CommandLine command) const {
    return {.id = row_.id.str(),
            .qemu = std::move(command),
            .desktop_folder = folder(),
            .network = network_mode()};
}

Task<Result<>> Desktop::launch(StartFrom from) {
    const auto spec = plan_machine(host_, image_, row_.id.str(), row_.vm_uuid, disk(), from);
    DORMOUSE_CO_TRY_ASSIGN(auto command, vmm::qemu_command(spec));
    DORMOUSE_CO_TRY(remove_tree(vmm::exit_file(folder())));
    auto options = launch_options(host_, launch_plan(std::move(command)));
    DORMOUSE_CO_TRY_ASSIGN(auto machine, co_await vmm::Machine::start(host_.loop, std::move(options)));
    row_.accelerator = vmm::accelerator_name(spec.accelerator);
    take_machine(std::move(machine));
    co_return Result<>{};
}

void Desktop::drop_machine() {
    machine_.reset();
    close_network();
}

void Desktop::take_machine(std::shared_ptr<vmm::Machine> machine) {
    machine_ = std::move(machine);
    ready_ = false;
    replacing_ = false;
    pause_reason_.reset();
    open_network();
    const auto weak = weak_from_this();
    machine_->set_listener({.on_exit =
                                [weak](vmm::ExitRecord record) {
                                    if (const auto self = weak.lock()) self->on_exit(record);
                                },
                            .on_event =
                                [weak](std::string name, nlohmann::json data) {
                                    if (const auto self = weak.lock()) self->on_event(name, data);
                                }});
    machine_->guest().set_on_ready([weak](const guest::HelloInfo&) {
        if (const auto self = weak.lock()) self->set_ready(true);
    });
    machine_->guest().set_on_lost([weak](const std::string&) {
        if (const auto self = weak.lock()) self->set_ready(false);
    });
    auto send = [machine = std::weak_ptr{machine_}](nlohmann::json events) {
        return [](std::weak_ptr<vmm::Machine> of, nlohmann::json what) -> Task<Result<>> {
            const auto held = of.lock();
            if (!held) co_return fail(Errc::Unavailable, "the machine is gone");
            co_return co_await held->send_input(std::move(what));
        }(machine, std::move(events));
    };
    input_ = std::make_shared<InputDevice>(host_.loop, std::move(send), input_sync(machine_, host_.loop));
    if (is_emulated()) input_->set_drag_pace(pacing::kEmulatedDragPace);
}

Task<Result<>> Desktop::create() {
    const auto self = shared_from_this();
    const auto guard = co_await machine_mutex_.lock();
    DORMOUSE_CO_TRY(check_memory_image(host_, image_));
    DORMOUSE_CO_TRY(co_await make_disk());
    auto woken = co_await wake_from_template();
    if (!woken) co_return fail(woken.error());
    co_return co_await move_to(State::Running);
}

Task<Result<>> Desktop::wake_from_template() {
    DORMOUSE_CO_TRY(co_await launch(StartFrom::MemoryImage));
    const auto machine = machine_;
    DORMOUSE_CO_TRY_ASSIGN(auto stream, open_file(image_.wake_stream(), O_RDONLY));
    DORMOUSE_CO_TRY(co_await machine->restore(std::move(stream)));
    DORMOUSE_CO_TRY(co_await machine->resume());
    DORMOUSE_CO_TRY(co_await need_screen());
    auto waiting = wait_agent(host_.loop, machine, kWakeTimeout, [this] { return !replacing_; });
    DORMOUSE_CO_TRY(co_await std::move(waiting));
    set_ready(true);
    co_return Result<>{};
}

Task<Result<>> Desktop::start() {
    const auto self = shared_from_this();
    if (state_ == State::Running || state_ == State::Starting || state_ == State::Creating)
        co_return Result<>{};
    DORMOUSE_CO_TRY(co_await move_to(State::Starting));
    spawn([](std::shared_ptr<Desktop> on) -> Task<void> { co_await on->run_start(); }(self));
    co_return Result<>{};
}

Task<void> Desktop::run_start() {
    const auto guard = co_await machine_mutex_.lock();
    if (state_ != State::Starting || closed_) co_return;
    auto begun = co_await launch(StartFrom::Disk);
    const auto machine = machine_;
    if (begun) begun = co_await machine->resume();
    if (!begun) {
        replacing_ = true;
        if (machine) (void)co_await machine->kill_now();
        drop_machine();
        if (state_ == State::Starting) co_await fail_with(begun.error().message);
        co_return;
    }
    co_await finish_start();
}

void Desktop::report_lost(const Result<>& moved) const {
    if (moved) return;
    log::error("desktop.state_lost", {{"desktop", row_.id.str()}, {"why", moved.error().message}});
}

// The machine runs; the state becomes Running once the agent answers and the
// desktop is drawn: before, what is typed goes nowhere.
Task<void> Desktop::finish_start() {
    const auto machine = machine_;
    auto waiting = wait_agent(host_.loop, machine, kBootTimeout,
                              [this] { return state_ == State::Starting && !closed_; });
    auto ready = co_await std::move(waiting);
    if (ready) ready = co_await wait_drawn(machine);
    if (state_ != State::Starting || machine_ != machine || !machine->alive() || closed_) co_return;
    set_ready(ready.has_value());
    // A desktop without its agent can still be seen and clicked.
    std::optional<std::string> reason;
    if (!ready) reason = ready.error().message;
    const auto moved = co_await move_to(State::Running, reason);
    report_lost(moved);
}

Task<Result<>> Desktop::wait_drawn(std::shared_ptr<vmm::Machine> machine) {
    const auto& clock = host_.loop.clock();
    const auto deadline = clock.now() + kDrawTimeout;
    std::optional<MonotonicTime> session_since;
    while (clock.now() < deadline) {
        if (state_ != State::Starting || !machine->alive() || closed_)
            co_return fail(Errc::Interrupted, "nobody waits any more");
        const auto status =
            co_await machine->guest().request("status", nlohmann::json::object(), kStatusTimeout);
        if (status && status->is_object() && status->value("session_ready", false)) {
            if (!session_since) session_since = clock.now();
            // A desktop need not open a browser; one that does needs it.
            if (status->value("browser_window", false) || clock.now() - *session_since > kBrowserPatience) {
                DORMOUSE_CO_TRY(co_await need_screen());
                const auto calm = co_await screen_.wait_settled({}, kCalmTimeout);
                if (!calm && calm.error().code != Errc::Timeout) co_return fail(calm.error());
                co_return Result<>{};
            }
        }
        co_await host_.loop.sleep(kStatusLook);
    }
    co_return fail(Errc::Timeout, "its desktop was not drawn in time");
}

// ---- going down

Task<Result<>> Desktop::stop() {
    const auto self = shared_from_this();
    if (state_ == State::Stopped || state_ == State::Stopping || state_ == State::Failed)
        co_return Result<>{};
    DORMOUSE_CO_TRY(co_await move_to(State::Stopping));
    spawn([](std::shared_ptr<Desktop> on) -> Task<void> { co_await on->run_stop(false); }(self));
    co_return Result<>{};
}

Task<Result<>> Desktop::restart() {
    const auto self = shared_from_this();
    if (state_ == State::Stopped || state_ == State::Failed) co_return co_await start();
    if (state_ == State::Starting) co_return Result<>{};
    DORMOUSE_CO_TRY(co_await move_to(State::Stopping));
    spawn([](std::shared_ptr<Desktop> on) -> Task<void> { co_await on->run_stop(true); }(self));
    co_return Result<>{};
}

Task<void> Desktop::run_stop(bool start_again) {
    replacing_ = true;
    co_await power_off();
    // A start that was in progress sees that its machine is gone, and ends.
    const auto guard = co_await machine_mutex_.lock();
    if (machine_) (void)co_await machine_->quit(kQuitGrace);
    drop_machine();
    ready_ = false;
    screen_.detach();
    if (state_ != State::Stopping || closed_) co_return;
    const auto moved = co_await move_to(State::Stopped);
    report_lost(moved);
    if (start_again && moved) (void)co_await start();
}

Task<void> Desktop::power_off() {
    const auto machine = machine_;
    if (!machine || !machine->alive()) co_return;
    {
        const auto nobody_acts = co_await input_mutex_.lock();
        (void)co_await input_->release_all();
    }
    co_await collect_destinations();
    const auto asked = co_await machine->guest().request("poweroff", nlohmann::json::object(), 5s);
    // Without an agent the power button, which a booting system may not hear.
    if (!asked) (void)co_await machine->qmp("system_powerdown");
    const auto deadline = host_.loop.clock().now() + (asked ? Duration{kPowerOffTimeout} : Duration{20s});
    while (machine->alive() && host_.loop.clock().now() < deadline && !closed_)
        co_await host_.loop.sleep(50ms);
    if (machine->alive() && !closed_) {
        log::warn("desktop.no_poweroff", {{"desktop", row_.id.str()}});
        (void)co_await machine->quit(kQuitGrace);
    }
}

Task<Result<>> Desktop::remove() {
    const auto self = shared_from_this();
    if (state_ != State::Deleting) DORMOUSE_CO_TRY(co_await move_to(State::Deleting));
    replacing_ = true;
    if (machine_) (void)co_await machine_->kill_now();
    const auto guard = co_await machine_mutex_.lock();
    // A daemon that was killed in the middle of creating or deleting it has left
    // a machine that nobody has taken over yet.
    if (!machine_) {
        auto left = co_await vmm::Machine::adopt(host_.loop, row_.id.str(), host_.run_folder(row_.id.str()));
        if (left) machine_ = std::move(*left);
    }
    if (machine_) (void)co_await machine_->kill_now();
    drop_machine();
    ready_ = false;
    screen_.detach();
    const auto files = folder();
    const auto sockets = host_.run_folder(row_.id.str());
    auto job = run_on(host_.pool, host_.loop, [files, sockets]() -> Result<> {
        DORMOUSE_TRY(remove_tree(sockets));
        return remove_tree(files);
    });
    co_return co_await std::move(job);
}

// ---- what the machine does by itself

void Desktop::on_exit(const vmm::ExitRecord& record) {
    log::info("machine.exit", {{"desktop", row_.id.str()},
                               {"status", record.to_text()},
                               {"shutdown", record.shutdown_reason},
                               {"expected", replacing_}});
    ready_ = false;
    pause_reason_.reset();
    if (replacing_ || closed_) return;
    spawn([](std::shared_ptr<Desktop> on, vmm::ExitRecord how) -> Task<void> {
        co_await on->settle_exit(std::move(how));
    }(shared_from_this(), record));
}

void Desktop::remember_exit(const vmm::ExitRecord& record) {
    exit_ = ExitInfo{record.to_text(), record.stderr_tail};
    row_.exit_status = exit_->status;
    row_.exit_output =
        nlohmann::json(record.stderr_tail).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Task<void> Desktop::settle_exit(vmm::ExitRecord record) {
    if (state_ != State::Running && state_ != State::Starting) co_return;
    drop_machine();
    screen_.detach();
    if (record.status.ok() && record.shutdown_reason == "guest-shutdown") {
        const auto moved = co_await move_to(State::Stopped, "shut down from inside");
        report_lost(moved);
        co_return;
    }
    remember_exit(record);
    auto reason = fmt::format("QEMU ended: {}", record.to_text());
    if (!record.stderr_tail.empty()) reason += fmt::format("; it said: {}", record.stderr_tail.back());
    co_await fail_with(std::move(reason));
}

void Desktop::on_event(const std::string& name, const nlohmann::json& data) {
    if (name != "BLOCK_IO_ERROR" || !data.is_object() || data.value("action", "") != "stop") return;
    const bool full = data.value("nospace", false);
    set_pause_reason(full
                         ? std::string{kDiskFull}
                         : "paused: the host's disk failed: " + data.value("reason", std::string{"unknown"}));
    log::error("desktop.paused", {{"desktop", row_.id.str()}, {"reason", *pause_reason_}});
    if (full) retry_when_disk_has_space();
}

void Desktop::retry_when_disk_has_space() {
    host_.loop.after(kDiskRetry, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self || !self->machine_ || !self->pause_reason_) return;
        std::error_code error;
        const auto space = fs::space(self->folder(), error);
        if (error || space.available < (256u << 20)) return self->retry_when_disk_has_space();
        spawn([](std::shared_ptr<Desktop> on) -> Task<void> {
            on->set_pause_reason({});
            const auto going = co_await on->machine_->resume();
            if (!going)
                log::warn("desktop.no_resume",
                          {{"desktop", on->row_.id.str()}, {"why", going.error().message}});
        }(self));
    });
}

// ---- after a restart of the daemon

Task<void> Desktop::adopt() {
    const auto self = shared_from_this();
    const auto guard = co_await machine_mutex_.lock();
    auto found = co_await vmm::Machine::adopt(host_.loop, row_.id.str(), host_.run_folder(row_.id.str()));
    if (found) {
        take_machine(std::move(*found));
        co_await adopt_running();
    } else {
        co_await adopt_ended();
    }
}

Task<void> Desktop::adopt_running() {
    const auto machine = machine_;
    log::info("desktop.adopted",
              {{"desktop", row_.id.str()}, {"pid", machine->qemu_pid()}, {"state", state_name(state_)}});
    const auto self = shared_from_this();
    if (state_ == State::Stopping) {
        spawn([](std::shared_ptr<Desktop> on) -> Task<void> { co_await on->run_stop(false); }(self));
        co_return;
    }
    if (state_ == State::Stopped || state_ == State::Failed) {
        // Cannot be, unless somebody put back an old database: the disk may have
        // gone on without us, so the machine is ended, never taken for running.
        replacing_ = true;
        (void)co_await machine->quit(kQuitGrace);
        drop_machine();
        co_return;
    }
    // Killed between the start of QEMU and its first instruction: let it go on.
    const auto running = co_await machine->run_state();
    if (running && (*running == "prelaunch" || *running == "paused")) (void)co_await machine->resume();
    // The event that told of it went to the daemon before.
    if (running && *running == "io-error") {
        set_pause_reason(kDiskFull);
        retry_when_disk_has_space();
    }
    // The daemon before may have been killed with a key down.
    (void)co_await input_->release_everything_unknown();
    if (state_ == State::Starting)
        spawn([](std::shared_ptr<Desktop> on) -> Task<void> { co_await on->finish_start(); }(self));
}

Task<void> Desktop::adopt_ended() {
    (void)remove_tree(host_.run_folder(row_.id.str()));
    if (state_ == State::Stopping) {
        (void)co_await move_to(State::Stopped);
        co_return;
    }
    if (state_ != State::Running && state_ != State::Starting) co_return;
    auto record = vmm::read_exit_record(folder());
    if (record) {
        co_await settle_exit(std::move(*record));
    } else {
        co_await fail_with("the machine ended while the daemon was not running, probably with the host");
    }
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_boot.h"

#include <fcntl.h>
#include <unistd.h>

#include <sstream>

#include "display/screen.h"
#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/base/random.h"
#include "hostd/desktop/machine_plan.h"
#include "vmm/disk.h"
#include "vmm/guest_channel.h"
#include "vmm/memory_image.h"

namespace dormouse::desktop {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

constexpr const char* kBootId = "bake";
constexpr const char* kTrialId = "bake-trial";

// Under emulation on two shared cores a boot takes 45 to 80 s; the rest is for hosts that are busy.
constexpr auto kBootTimeout = 10min;
constexpr auto kSettleTimeout = 3min;
constexpr auto kIdleTimeout = 90s;

using Cancelled = std::shared_ptr<std::atomic<bool>>;

Result<> unless(const Cancelled& cancelled) {
    if (cancelled->load()) return fail(Errc::Interrupted, "the bake was cancelled");
    return {};
}

// Processor time that a process has used, in clock ticks. 0 when it is gone.
long used_ticks(pid_t pid) {
    const auto text = read_file(fmt::format("/proc/{}/stat", pid), 4096);
    if (!text) return 0;
    const auto after_name = text->rfind(')');  // the name may hold anything
    if (after_name == std::string::npos) return 0;
    std::istringstream fields{text->substr(after_name + 2)};
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    long user = 0;
    long system = 0;
    fields >> user >> system;
    return user + system;
}

LaunchPlan without_network(const char* id, const CommandLine& command, const fs::path& folder) {
    return {.id = id, .qemu = command, .desktop_folder = folder, .network = net::Mode::None};
}

class FirstBoot {
  public:
    FirstBoot(Host& host, Template plan, std::function<void(double, std::string)> progress,
              Cancelled cancelled)
        : host_(host),
          plan_(std::move(plan)),
          progress_(std::move(progress)),
          cancelled_(std::move(cancelled)),
          screen_(kBootId, host.loop),
          folder_(plan_.folder / "boot") {}

    Task<Result<>> run() {
        DORMOUSE_CO_TRY(make_directories(folder_, 0700));
        DORMOUSE_CO_TRY(give_to_machine(host_, folder_, 0700));
        auto result = co_await boot();
        if (!result) result = fail_in("first boot", with_qemu_words(result.error()));
        if (machine_) (void)co_await machine_->quit(5s);
        screen_.detach();
        if (result) result = remove_tree(folder_);
        co_return result;
    }

  private:
    Task<Result<>> boot() {
        progress_(0.0, "booting");
        const auto spec = plan_machine(host_, plan_, kBootId, random_uuid(), plan_.disk(), StartFrom::Disk);
        DORMOUSE_CO_TRY_ASSIGN(const auto command, vmm::qemu_command(spec));
        // Without access to anything, but with the address that every desktop has.
        auto options = launch_options(host_, without_network(kBootId, command, folder_));
        DORMOUSE_CO_TRY_ASSIGN(machine_, co_await vmm::Machine::start(host_.loop, std::move(options)));
        DORMOUSE_CO_TRY_ASSIGN(auto display, co_await machine_->open_display());
        DORMOUSE_CO_TRY(attach_screen(screen_, std::move(display)));
        DORMOUSE_CO_TRY(co_await machine_->resume());
        DORMOUSE_CO_TRY(co_await wait_for_desktop());
        progress_(0.75, "waiting until the desktop has come to rest");
        display::SettleOptions calm{.quiet = 3s};
        const auto settled = co_await screen_.wait_settled(calm, kSettleTimeout);
        if (!settled && settled.error().code != Errc::Timeout) co_return fail(settled.error());
        co_await wait_until_idle();
        DORMOUSE_CO_TRY(unless(cancelled_));
        progress_(0.85, "making the memory image");
        DORMOUSE_CO_TRY(co_await quiesce());
        co_return co_await save();
    }

    Task<Result<>> wait_for_desktop() {
        const auto started = host_.loop.clock().now();
        std::string seen = "the agent has not answered";
        while (host_.loop.clock().now() - started < kBootTimeout) {
            DORMOUSE_CO_TRY(unless(cancelled_));
            if (!machine_->alive()) co_return fail(Errc::Unavailable, "the machine ended");
            const std::chrono::duration<double> passed = host_.loop.clock().now() - started;
            progress_(std::min(0.7, passed.count() / 80 * 0.7),
                      fmt::format("booting ({:.0f} s)", passed.count()));
            if (!machine_->guest().ready()) {
                (void)co_await machine_->guest().wait_ready(1s);
                continue;
            }
            const auto status = co_await machine_->guest().request("status", Json::object(), 10s);
            if (status && status->is_object()) {
                if (status->value("session_ready", false) && status->value("browser_window", false))
                    co_return Result<>{};
                seen = status->dump();
            }
            co_await host_.loop.sleep(1s);
        }
        co_return fail(Errc::Timeout,
                       fmt::format("the desktop was not drawn within {} minutes; last seen: {}",
                                   kBootTimeout.count(), seen));
    }

    // A browser goes on working after its first picture; what it does once here
    // it need not do in every desktop.
    Task<void> wait_until_idle() {
        const auto deadline = host_.loop.clock().now() + kIdleTimeout;
        const long second = ::sysconf(_SC_CLK_TCK);
        int calm = 0;
        while (calm < 3 && host_.loop.clock().now() < deadline && machine_->alive() && !cancelled_->load()) {
            const long before = used_ticks(machine_->qemu_pid());
            co_await host_.loop.sleep(1s);
            calm = used_ticks(machine_->qemu_pid()) - before < second / 4 ? calm + 1 : 0;
        }
        log::info("template.idle", {{"template", plan_.name.str()}, {"calm", calm >= 3}});
    }

    Task<Result<>> quiesce() {
        const auto answer = co_await machine_->guest().request("quiesce", Json::object(), 120s);
        if (!answer) co_return fail_in("quiesce", answer.error());
        // The port's bytes do not survive: nothing may be under way in it.
        machine_->guest().disconnect();
        co_await host_.loop.sleep(200ms);
        co_return co_await machine_->pause();
    }

    Task<Result<>> save() {
        int fds[2];
        if (::pipe2(fds, O_CLOEXEC) != 0) co_return fail_errno("cannot make a pipe");
        auto reader = std::make_shared<UniqueFd>(fds[0]);
        UniqueFd writer{fds[1]};
        const auto ram = static_cast<std::uint64_t>(plan_.memory_mib) << 20;
        Completion<Result<vmm::MemoryImage>> image{host_.loop};
        host_.pool.post([reader, folder = plan_.folder, ram, image, &loop = host_.loop, flag = cancelled_] {
            auto made = std::make_shared<Result<vmm::MemoryImage>>(
                vmm::split_into_image(reader->get(), folder, ram, [flag] { return flag->load(); }));
            reader->reset();  // a writer that is still there is told
            loop.post([image, made]() mutable { image.complete(std::move(*made)); });
        });
        const auto saved = co_await machine_->save_to(std::move(writer));
        auto made = co_await image;
        if (!saved) co_return fail(saved.error());
        if (!made) co_return fail(made.error());
        log::info("template.image", {{"template", plan_.name.str()},
                                     {"base_bytes", made->base.allocated},
                                     {"wake_bytes", made->wake.size}});
        co_return Result<>{};
    }

    Error with_qemu_words(Error error) const {
        if (machine_ && machine_->exit_record()) {
            error.message += fmt::format("; QEMU: {}", machine_->exit_record()->to_text());
            for (const auto& line : machine_->exit_record()->stderr_tail) error.message += "; " + line;
        }
        return error;
    }

    Host& host_;
    Template plan_;
    std::function<void(double, std::string)> progress_;
    Cancelled cancelled_;
    display::Screen screen_;
    fs::path folder_;
    std::shared_ptr<vmm::Machine> machine_;
};

Task<Result<>> wake_in(Host& host, Template plan, fs::path folder) {
    const auto disk = folder / "disk.qcow2";
    auto job = run_on(host.pool, host.loop,
                      [disk, below = plan.disk()] { return vmm::create_overlay(disk, below, "qcow2"); });
    DORMOUSE_CO_TRY(co_await std::move(job));
    DORMOUSE_CO_TRY(give_to_machine(host, disk, 0600));
    const auto spec = plan_machine(host, plan, kTrialId, random_uuid(), disk, StartFrom::MemoryImage);
    DORMOUSE_CO_TRY_ASSIGN(const auto command, vmm::qemu_command(spec));
    auto options = launch_options(host, without_network(kTrialId, command, folder));
    DORMOUSE_CO_TRY_ASSIGN(const auto machine, co_await vmm::Machine::start(host.loop, std::move(options)));
    Result<> outcome;
    if (auto stream = open_file(plan.wake_stream(), O_RDONLY))
        outcome = co_await machine->restore(std::move(*stream));
    else
        outcome = fail(stream.error());
    if (outcome) outcome = co_await machine->resume();
    if (outcome) {
        const auto ready = co_await machine->guest().wait_ready(60s);
        if (!ready) outcome = fail_in("the agent after a wake", ready.error());
    }
    (void)co_await machine->quit(2s);
    co_return outcome;
}

}  // namespace

Task<Result<>> boot_and_save(Host& host, Template plan, std::function<void(double, std::string)> progress,
                             Cancelled cancelled) {
    FirstBoot boot{host, std::move(plan), std::move(progress), std::move(cancelled)};
    co_return co_await boot.run();
}

Task<Result<>> try_wake(Host& host, Template plan, Cancelled cancelled) {
    DORMOUSE_CO_TRY(unless(cancelled));
    const auto folder = plan.folder / "trial";
    DORMOUSE_CO_TRY(make_directories(folder, 0700));
    DORMOUSE_CO_TRY(give_to_machine(host, folder, 0700));
    auto outcome = co_await wake_in(host, plan, folder);
    if (!outcome) co_return fail_in("trying the template's memory image", outcome.error());
    co_return remove_tree(folder);
}

Task<void> end_boot_machines(Host& host) {
    for (const std::string id : {kBootId, kTrialId}) {
        auto machine = co_await vmm::Machine::adopt(host.loop, id, host.run_folder(id), 5s);
        if (machine) (void)co_await (*machine)->kill_now();
        (void)remove_tree(host.run_folder(id));
    }
}

}  // namespace dormouse::desktop

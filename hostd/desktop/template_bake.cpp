// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_bake.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/base/random.h"
#include "hostd/desktop/machine_plan.h"
#include "hostd/desktop/template_boot.h"
#include "vmm/disk.h"
#include "vmm/memory_image.h"

namespace dormouse::desktop {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// How much of the whole each step is, roughly as measured on two cores without KVM.
constexpr double kPackagesEnd = 0.45;
constexpr double kDiskEnd = 0.60;
constexpr double kBootEnd = 0.95;

// "progress 0.42 unpacking packages"
bool parse_progress(std::string_view line, double& done, std::string& step) {
    constexpr std::string_view kWord = "progress ";
    if (line.substr(0, kWord.size()) != kWord) return false;
    line.remove_prefix(kWord.size());
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), done);
    if (parsed.ec != std::errc{}) return false;
    line.remove_prefix(static_cast<std::size_t>(parsed.ptr - line.data()));
    if (!line.empty()) line.remove_prefix(1);
    step = line;
    return true;
}

std::string lines_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

// One bake in progress. The parts are coroutines on the loop; what blocks goes to the pool.
class Bake {
  public:
    Bake(Host& host, BakeOptions options, Recipe recipe)
        : host_(host),
          options_(std::move(options)),
          recipe_(std::move(recipe)),
          store_(host.config.templates) {}

    Task<Result<Template>> run() {
        DORMOUSE_CO_TRY_ASSIGN(auto plan, make_plan());
        const auto final_folder = plan.folder;
        if (auto finished = read_template(final_folder)) {
            DORMOUSE_CO_TRY(store_.publish(*finished));
            co_return std::move(*finished);
        }
        const auto lock = lock_file(store_.root() / "bake.lock");
        if (!lock) {
            if (lock.error().code != Errc::Conflict) co_return fail(lock.error());
            co_return fail(Errc::Conflict, "another bake is in progress", "wait until it has ended");
        }
        co_await remove_leftovers();
        plan.folder += ".partial";
        DORMOUSE_CO_TRY(make_directories(plan.folder, host_.machine_uid ? 0711 : 0700));
        auto made = co_await build_all(plan);
        if (!made) {
            co_await remove_leftovers();
            co_return fail(made.error());
        }
        DORMOUSE_CO_TRY(remove_tree(final_folder));  // one whose manifest could not be read
        if (::rename(plan.folder.c_str(), final_folder.c_str()) != 0)
            co_return fail_errno(final_folder.string());
        plan.folder = final_folder;
        DORMOUSE_CO_TRY(store_.publish(plan));
        co_return plan;
    }

  private:
    Result<Template> make_plan() {
        Template plan{.name = recipe_.name,
                      .memory_mib = recipe_.memory_mib,
                      .cpus = recipe_.cpus,
                      .screen_width = recipe_.screen_width,
                      .screen_height = recipe_.screen_height,
                      .kernel_arguments = recipe_.kernel_arguments,
                      .user = recipe_.user,
                      .accelerator = vmm::accelerator_name(host_.accelerator.accelerator),
                      .cpu_model = vmm::cpu_model(host_.accelerator.accelerator),
                      .qemu_version = host_.qemu.text};
        plan.folder = store_.root() / "plan";  // only to have absolute paths in the specification
        const auto spec =
            plan_machine(host_, plan, "bake", random_uuid(), plan.disk(), StartFrom::MemoryImage);
        DORMOUSE_TRY_ASSIGN(plan.command_hash, vmm::command_hash(spec));
        DORMOUSE_TRY_ASSIGN(plan.hash, bake_hash(recipe_, options_.inputs,
                                                 fmt::format("{} {}", plan.qemu_version, plan.command_hash)));
        plan.folder = store_.folder_of(plan.name, plan.hash);
        return plan;
    }

    Task<Result<>> build_all(Template plan) {
        DORMOUSE_CO_TRY_ASSIGN(const auto packages, co_await fetch_packages());
        DORMOUSE_CO_TRY(co_await build_disk(plan, packages));
        DORMOUSE_CO_TRY(co_await boot_once(plan));
        // The folder gets its name later, and a cache of templates may be moved.
        auto job = run_on(host_.pool, host_.loop,
                          [disk = plan.disk(), below = plan.root_disk().filename().string()] {
                              return vmm::set_backing_beside(disk, below, "raw");
                          });
        DORMOUSE_CO_TRY(co_await std::move(job));
        DORMOUSE_CO_TRY(protect(plan));
        progress(kBootEnd, "trying a wake");
        DORMOUSE_CO_TRY(co_await try_wake(host_, plan, options_.cancelled));
        DORMOUSE_CO_TRY(write_template_manifest(plan));
        progress(1.0, "done");
        co_return Result<>{};
    }

    // The first stage is the slow one and changes seldom: kept apart.
    Task<Result<fs::path>> fetch_packages() {
        const auto cache = store_.root() / "packages";
        DORMOUSE_CO_TRY(make_directories(cache, 0700));
        DORMOUSE_CO_TRY_ASSIGN(const auto hash, packages_hash(recipe_, options_.inputs));
        const auto tar = cache / fmt::format("{}-{}.tar", recipe_.name.str(), hash);
        std::error_code error;
        if (fs::exists(tar, error)) co_return tar;
        // One set of packages a template is kept.
        for (const auto& entry : fs::directory_iterator{cache, error})
            if (entry.path().filename().string().rfind(recipe_.name.str() + "-", 0) == 0)
                DORMOUSE_CO_TRY(remove_tree(entry.path()));
        const auto list = cache / "list";
        DORMOUSE_CO_TRY(write_file_atomic(list, lines_of(recipe_.packages)));
        const auto arguments = packages_arguments(recipe_, options_.inputs, list, tar, cache / "work");
        DORMOUSE_CO_TRY(co_await run_builder(arguments, 0.0, kPackagesEnd));
        co_return tar;
    }

    Task<Result<>> build_disk(Template plan, fs::path packages) {
        const auto commands = plan.folder / "commands";
        DORMOUSE_CO_TRY(write_file_atomic(commands, lines_of(recipe_.commands)));
        const auto arguments =
            disk_arguments(recipe_, options_.inputs, packages, commands, plan.folder, plan.folder / "work");
        DORMOUSE_CO_TRY(co_await run_builder(arguments, kPackagesEnd, kDiskEnd));
        DORMOUSE_CO_TRY(remove_tree(commands));
        auto job =
            run_on(host_.pool, host_.loop, [work = plan.folder / "work"] { return remove_tree(work); });
        co_return co_await std::move(job);
    }

    Task<Result<>> boot_once(Template plan) {
        const auto ram = static_cast<std::uint64_t>(plan.memory_mib) << 20;
        DORMOUSE_CO_TRY(vmm::create_blank_base(plan.empty_base(), ram));
        auto job = run_on(host_.pool, host_.loop, [disk = plan.disk(), below = plan.root_disk()] {
            return vmm::create_overlay(disk, below, "raw");
        });
        DORMOUSE_CO_TRY(co_await std::move(job));
        DORMOUSE_CO_TRY(share_with_machine(host_, plan.kernel(), 0640));
        DORMOUSE_CO_TRY(share_with_machine(host_, plan.initrd(), 0640));
        DORMOUSE_CO_TRY(share_with_machine(host_, plan.root_disk(), 0640));
        DORMOUSE_CO_TRY(share_with_machine(host_, plan.empty_base(), 0660));
        DORMOUSE_CO_TRY(give_to_machine(host_, plan.disk(), 0600));
        auto on_step = [this](double done, std::string step) {
            progress(kDiskEnd + done * (kBootEnd - kDiskEnd), std::move(step));
        };
        co_return co_await boot_and_save(host_, plan, on_step, options_.cancelled);
    }

    // From here on nobody may change these files; QEMU 7.2 opens a memory base
    // for writing although it maps it privately, so its mode must allow that.
    Result<> protect(const Template& plan) {
        DORMOUSE_TRY(share_with_machine(host_, plan.disk(), 0640));
        DORMOUSE_TRY(share_with_machine(host_, plan.memory_base(), 0660));
        DORMOUSE_TRY(share_with_machine(host_, plan.wake_stream(), 0640));
        return {};
    }

    Task<Result<>> run_builder(std::vector<std::string> arguments, double from, double to) {
        auto on_line = [this, from, to](std::string_view line) {
            double done = 0;
            std::string step;
            if (!parse_progress(line, done, step)) return;
            host_.loop.post([this, at = from + done * (to - from), step] { progress(at, step); });
        };
        auto cancelled = [flag = options_.cancelled] { return flag->load(); };
        RunOptions run{.timeout = 60min, .on_line = on_line, .cancelled = cancelled};
        auto job = run_on(host_.pool, host_.loop, [arguments = std::move(arguments), run] {
            return run_checked(CommandLine{.argv = arguments}, run);
        });
        auto output = co_await std::move(job);
        if (!output) co_return fail(output.error());
        co_return Result<>{};
    }

    Task<void> remove_leftovers() {
        co_await end_boot_machines(host_);
        std::error_code error;
        for (const auto& entry : fs::directory_iterator{store_.root(), error}) {
            if (entry.path().extension() != ".partial") continue;
            auto job = run_on(host_.pool, host_.loop, [path = entry.path()] { return remove_tree(path); });
            const auto removed = co_await std::move(job);
            if (!removed)
                log::warn("template.leftover",
                          {{"path", entry.path().string()}, {"why", removed.error().message}});
        }
    }

    void progress(double done, std::string step) {
        if (options_.progress) options_.progress(done, std::move(step));
    }

    Host& host_;
    BakeOptions options_;
    Recipe recipe_;
    TemplateStore store_;
};

}  // namespace

Task<Result<Template>> bake_template(Host& host, BakeOptions options) {
    DORMOUSE_CO_TRY_ASSIGN(auto recipe, load_recipe(options.inputs.recipe_file, options.source_root));
    Bake bake{host, std::move(options), std::move(recipe)};
    co_return co_await bake.run();
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/template_bake.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostd/base/file.h"
#include "hostd/base/log.h"
#include "hostd/base/random.h"
#include "hostd/desktop/bake_log.h"
#include "hostd/desktop/bake_room.h"
#include "hostd/desktop/machine_plan.h"
#include "hostd/desktop/template_boot.h"
#include "hostd/desktop/template_builder.h"
#include "vmm/disk.h"
#include "vmm/memory_image.h"

namespace dormouse::desktop {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// How much of the whole each step is, roughly as measured on two cores without
// KVM; the packages take nothing where they are there already.
constexpr double kPackagesEnd = 0.45;
constexpr double kDiskShare = 0.27;  // of what is left then
constexpr double kBootEnd = 0.95;
// For a builder whose daemon was killed to take down what it has.
constexpr auto kOtherBakeEnds = 60s;

constexpr auto kLockWait = 2s;

constexpr std::string_view kPartial = ".partial";

// The second stage writes its steps into the log itself, before what they say.
enum class LoggedBy { Us, Builder };

std::string lines_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

fs::path packages_folder(const TemplateStore& store) {
    return store.root() / "packages";
}

// What a bake has left that did not come to its end. The lock is held.
Task<void> remove_leftovers(Host& host, fs::path root) {
    co_await end_boot_machines(host);
    std::vector<fs::path> left;
    std::error_code error;
    for (const auto& folder : {root, root / "packages"})
        for (const auto& entry : fs::directory_iterator{folder, error})
            if (entry.path().extension() == kPartial) left.push_back(entry.path());
    if (fs::exists(root / "packages/work", error)) left.push_back(root / "packages/work");
    for (const auto& path : left) {
        auto job = run_on(host.pool, host.loop, [path] { return remove_tree(path); });
        const auto removed = co_await std::move(job);
        if (!removed)
            log::warn("template.leftover", {{"path", path.string()}, {"why", removed.error().message}});
    }
}

// One bake in progress. The parts are coroutines on the loop; what blocks goes to the pool.
class Bake {
  public:
    Bake(Host& host, BakeOptions options)
        : host_(host),
          options_(std::move(options)),
          recipe_(options_.recipe),
          store_(host.config.templates),
          log_(host.loop, options_.log),
          began_(host.loop.clock().now()),
          began_wall_(host.loop.clock().wall()) {}

    Task<Result<Template>> run() {
        DORMOUSE_CO_TRY_ASSIGN(auto plan, co_await make_plan());
        const auto final_folder = plan.folder;
        if (auto finished = read_template(final_folder)) {
            DORMOUSE_CO_TRY(store_.publish(*finished));
            progress(1.0, "nothing has changed since the last bake");
            co_return std::move(*finished);
        }
        DORMOUSE_CO_TRY(co_await take_lock());
        co_await remove_leftovers(host_, store_.root());
        plan.folder += kPartial;
        DORMOUSE_CO_TRY(make_directories(plan.folder, host_.machine_uid ? 0711 : 0700));
        DORMOUSE_CO_TRY(log_.open(plan.bake_log()));
        auto made = co_await build_all(plan);
        if (!made) log_.add("== failed: " + made.error().message);
        log_.close();
        if (!made) {
            co_await remove_leftovers(host_, store_.root());
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
    // A daemon that starts holds it for a moment, to look for leftovers.
    Task<Result<>> take_lock() {
        const auto deadline = host_.loop.clock().now() + kLockWait;
        for (;;) {
            auto lock = lock_file(store_.root() / "bake.lock");
            if (lock) {
                lock_ = std::move(*lock);
                co_return Result<>{};
            }
            if (lock.error().code != Errc::Conflict) co_return fail(lock.error());
            if (host_.loop.clock().now() >= deadline)
                co_return fail(Errc::Conflict, "another bake is in progress", "wait until it has ended");
            co_await host_.loop.sleep(200ms);
        }
    }

    // Reads all that goes in, and so takes a moment.
    Task<Result<Template>> make_plan() {
        auto plan = plan_template(host_, recipe_);
        if (!plan) co_return fail(plan.error());
        auto job = run_on(host_.pool, host_.loop, [recipe = recipe_, inputs = options_.inputs] {
            return hash_inputs(recipe, inputs);
        });
        DORMOUSE_CO_TRY_ASSIGN(plan->inputs, co_await std::move(job));
        DORMOUSE_CO_TRY_ASSIGN(plan->packages_hash, packages_hash(recipe_, options_.inputs));
        plan->hash = bake_hash(plan->inputs, machine_of(*plan));
        plan->folder = store_.folder_of(plan->name, plan->hash);
        co_return std::move(*plan);
    }

    Task<Result<>> build_all(Template plan) {
        const auto tar = packages_folder(store_) / fmt::format("{}.tar", plan.packages_hash);
        std::error_code error;
        const bool has_packages = fs::exists(tar, error);
        DORMOUSE_CO_TRY(check_room(bake_needs(recipe_, has_packages), look_at_room(store_.root())));
        DORMOUSE_CO_TRY(write_file_atomic(plan.recipe_file(), options_.recipe_text, 0644));
        const double packages_end = has_packages ? 0.0 : kPackagesEnd;
        disk_end_ = packages_end + (kBootEnd - packages_end) * kDiskShare;
        if (!has_packages) DORMOUSE_CO_TRY(co_await fetch_packages(plan, tar));
        DORMOUSE_CO_TRY(co_await build_disk(plan, tar, packages_end));
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
        plan.created_at = host_.loop.clock().wall();
        DORMOUSE_CO_TRY(write_template_manifest(plan));
        progress(1.0, "done");
        co_return Result<>{};
    }

    // The first stage is the slow one and changes seldom: kept apart, and shared
    // by all recipes that start from the same packages.
    Task<Result<>> fetch_packages(Template plan, fs::path tar) {
        const auto cache = packages_folder(store_);
        DORMOUSE_CO_TRY(make_directories(cache, 0700));
        store_.collect_packages(plan.packages_hash);
        BuilderFolders folders{.packages = plan.folder / "packages",
                               .parts = {},
                               .output = tar,
                               .work = cache / "work",
                               .log = plan.bake_log(),
                               .began = began_wall_};
        DORMOUSE_CO_TRY(write_file_atomic(folders.packages, lines_of(recipe_.packages)));
        DORMOUSE_CO_TRY(co_await build(packages_arguments(recipe_, options_.inputs, folders), 0.0,
                                       kPackagesEnd, LoggedBy::Us));
        DORMOUSE_CO_TRY(remove_tree(folders.packages));
        co_return remove_tree(folders.work);
    }

    Task<Result<>> build_disk(Template plan, fs::path packages, double begin) {
        BuilderFolders folders{.packages = packages,
                               .parts = plan.folder / "parts",
                               .output = plan.folder,
                               .work = plan.folder / "work",
                               .log = plan.bake_log(),
                               .began = began_wall_};
        DORMOUSE_CO_TRY(write_parts(recipe_, folders.parts));
        DORMOUSE_CO_TRY(co_await build(disk_arguments(recipe_, options_.inputs, folders), begin, disk_end_,
                                       LoggedBy::Builder));
        DORMOUSE_CO_TRY(remove_tree(folders.parts));
        auto job = run_on(host_.pool, host_.loop, [work = folders.work] { return remove_tree(work); });
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
            progress(disk_end_ + done * (kBootEnd - disk_end_), std::move(step));
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

    Task<Result<>> build(std::vector<std::string> arguments, double from, double to, LoggedBy logged_by) {
        auto on_progress = [this, from, to, logged_by](const BuilderProgress& told) {
            if (told.step != "done") progress(from + told.done * (to - from), told.step, logged_by);
        };
        return run_builder(host_.loop, host_.pool, std::move(arguments), recipe_, on_progress, lock_.get(),
                           options_.cancelled);
    }

    void progress(double done, std::string step, LoggedBy logged_by = LoggedBy::Us) {
        // A step that counts its seconds is one step: "booting (12 s)".
        const auto kind = step.substr(0, step.find(" ("));
        if (kind != last_step_ && logged_by == LoggedBy::Us) {
            const std::chrono::duration<double> passed = host_.loop.clock().now() - began_;
            log_.add(fmt::format("== {:4.0f} s  {}", passed.count(), kind));
        }
        last_step_ = kind;
        if (options_.progress) options_.progress(done, std::move(step));
    }

    Host& host_;
    BakeOptions options_;
    const Recipe recipe_;
    TemplateStore store_;
    BakeLog log_;
    MonotonicTime began_;
    WallTime began_wall_;
    UniqueFd lock_;
    double disk_end_ = 0;
    std::string last_step_;
};

}  // namespace

Task<Result<Template>> bake_template(Host& host, BakeOptions options) {
    Bake bake{host, std::move(options)};
    co_return co_await bake.run();
}

Task<bool> clean_up_after_bakes(Host& host) {
    const auto root = host.config.templates;
    const auto lock = lock_file(root / "bake.lock");
    if (!lock) co_return lock.error().code != Errc::Conflict;
    co_await remove_leftovers(host, root);
    co_return true;
}

Task<void> clean_up_when_bakes_have_ended(Host& host) {
    const auto deadline = host.loop.clock().now() + kOtherBakeEnds;
    bool clean = false;
    while (!clean && host.loop.clock().now() < deadline) {
        co_await host.loop.sleep(500ms);
        clean = co_await clean_up_after_bakes(host);
    }
}

}  // namespace dormouse::desktop

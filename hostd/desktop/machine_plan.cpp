// SPDX-License-Identifier: Apache-2.0
#include "hostd/desktop/machine_plan.h"

#include <utility>

#include "hostd/base/random.h"

namespace dormouse::desktop {

vmm::MachineSpec plan_machine(const Host& host, const Template& image, const std::string& id,
                              const std::string& uuid, const std::filesystem::path& disk, StartFrom from) {
    vmm::MachineSpec spec;
    spec.version = host.qemu;
    spec.id = id;
    spec.uuid = uuid;
    spec.generation_uuid = random_uuid();
    spec.accelerator = host.accelerator.accelerator;
    spec.cpu_model = vmm::cpu_model(host.accelerator.accelerator);
    spec.cpus = image.cpus;
    spec.memory_mib = image.memory_mib;
    spec.kernel = image.kernel();
    spec.initrd = image.initrd();
    spec.kernel_arguments = image.kernel_arguments;
    spec.memory_base = from == StartFrom::MemoryImage ? image.memory_base() : image.empty_base();
    spec.disk = disk;
    spec.width = image.screen_width;
    spec.height = image.screen_height;
    spec.display = host.display;
    spec.run_folder = host.run_folder(id);
    spec.incoming = from == StartFrom::MemoryImage;
    return spec;
}

Result<Template> plan_template(const Host& host, const Recipe& recipe) {
    Template plan{.name = recipe.name,
                  .memory_mib = recipe.memory_mib,
                  .cpus = recipe.cpus,
                  .screen_width = recipe.screen_width,
                  .screen_height = recipe.screen_height,
                  .kernel_arguments = recipe.kernel_arguments,
                  .user = recipe.user,
                  .description = recipe.description,
                  .locale = recipe.locale,
                  .timezone = recipe.timezone,
                  .keyboard = recipe.keyboard,
                  .accelerator = vmm::accelerator_name(host.accelerator.accelerator),
                  .cpu_model = vmm::cpu_model(host.accelerator.accelerator),
                  .qemu_version = host.qemu.text};
    if (recipe.parent) plan.parent = recipe.parent->str();
    plan.folder = host.config.templates / "plan";  // only to have absolute paths in the specification
    const auto spec = plan_machine(host, plan, "bake", random_uuid(), plan.disk(), StartFrom::MemoryImage);
    DORMOUSE_TRY_ASSIGN(plan.command_hash, vmm::command_hash(spec));
    return plan;
}

std::string machine_of(const Template& image) {
    return fmt::format("{} {}", image.qemu_version, image.command_hash);
}

Result<> check_memory_image(const Host& host, const Template& image) {
    const auto refuse = [&](const std::string& what, const std::string& then, const std::string& now) {
        return fail(Errc::Unavailable,
                    fmt::format("template '{}' was baked with {} {}, and this host has {}", image.name.str(),
                                what, then, now),
                    "bake it again: ./dormouse up, or dormouse template build with its recipe");
    };
    if (image.qemu_version != host.qemu.text) return refuse("QEMU", image.qemu_version, host.qemu.text);
    const std::string accelerator = vmm::accelerator_name(host.accelerator.accelerator);
    if (image.accelerator != accelerator) return refuse("the accelerator", image.accelerator, accelerator);
    const std::string cpu = vmm::cpu_model(host.accelerator.accelerator);
    if (image.cpu_model != cpu) return refuse("the processor", image.cpu_model, cpu);
    const auto spec = plan_machine(host, image, "check", random_uuid(), image.disk(), StartFrom::MemoryImage);
    DORMOUSE_TRY_ASSIGN(const auto hash, vmm::command_hash(spec));
    if (image.command_hash != hash) return refuse("another machine", image.command_hash, hash);
    return {};
}

Result<> attach_screen(display::Screen& screen, vmm::Machine::DisplayConnection display) {
    const auto kind =
        display.protocol == vmm::DisplayProtocol::Vnc ? display::SourceKind::Vnc : display::SourceKind::Dbus;
    return screen.attach(std::move(display.socket), kind);
}

}  // namespace dormouse::desktop

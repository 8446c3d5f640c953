// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "display/screen.h"
#include "hostd/desktop/host.h"
#include "hostd/desktop/recipe.h"
#include "hostd/desktop/template_store.h"
#include "vmm/qemu_command.h"

namespace dormouse::desktop {

enum class StartFrom {
    MemoryImage,  // the template's, which is loaded into a waiting QEMU
    Disk,         // a boot
};

// The machine of a desktop that was made from `image`. `id` and `uuid` are the
// desktop's, `disk` its own layer; the generation is a fresh one each time.
vmm::MachineSpec plan_machine(const Host& host, const Template& image, const std::string& id,
                              const std::string& uuid, const std::filesystem::path& disk, StartFrom from);

// The machine part of a template that is to be made from `recipe` on this host:
// everything but hashes, folder and time.
Result<Template> plan_template(const Host& host, const Recipe& recipe);

// What else than its inputs a template's memory image depends on.
std::string machine_of(const Template& image);

// Errc::Unavailable with the reason when this host's QEMU cannot load the
// template's memory image.
Result<> check_memory_image(const Host& host, const Template& image);

// Shows on `screen` what the machine at the other end of `display` shows.
Result<> attach_screen(display::Screen& screen, vmm::Machine::DisplayConnection display);

}  // namespace dormouse::desktop

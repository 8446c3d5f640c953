// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "hostd/base/clock.h"
#include "hostd/base/process.h"
#include "hostd/base/result.h"
#include "vmm/qemu_command.h"

namespace dormouse::vmm {

struct AcceleratorVerdict {
    Accelerator accelerator = Accelerator::Tcg;
    std::string reason;  // a sentence for people, without full stop
};

// The processor that the guest sees; stored with each image. Explicit in both
// cases, because an image only runs on the processor it was made on.
//   TCG: no AVX (slow to emulate), but the SSE levels that Chromium needs.
//   KVM: Westmere is the oldest named model with AES instructions; every host of
//   the last dozen years has all of it, from Intel or AMD, so that images can move.
const char* cpu_model(Accelerator accelerator);

// Where the probe looks and what it runs; tests bring their own.
struct AcceleratorProbe {
    std::string binary = "qemu-system-x86_64";
    std::filesystem::path kernel;  // the template's; without one the run is skipped and the verdict is TCG
    std::filesystem::path cache_file;  // empty: no cache
    Duration deadline = std::chrono::seconds{10};

    std::filesystem::path kvm_device = "/dev/kvm";
    std::filesystem::path cpuinfo = "/proc/cpuinfo";
    std::filesystem::path boot_id = "/proc/sys/kernel/random/boot_id";
    std::function<Result<>(const CommandLine&, Duration deadline)> run_kernel;  // empty: run_kernel_once
};

// Whether KVM really works here. /dev/kvm that opens proves nothing: on nested
// hosts it may open, make a machine, and never get a kernel past its first
// instructions. So: the device, then the processor's flag, then a real run of
// the kernel, whose outcome is remembered until the host boots again.
// Blocks for up to `deadline` once per host boot: for the work pool.
AcceleratorVerdict choose_accelerator(const AcceleratorProbe& probe);

// Runs `command` until the kernel's first console line; then ends it.
// Errc::Timeout when that does not come, Errc::Unavailable when it ends before.
Result<> run_kernel_once(const CommandLine& command, Duration deadline);

}  // namespace dormouse::vmm

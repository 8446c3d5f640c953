// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "hostd/desktop/host.h"
#include "hostd/desktop/template_store.h"

namespace dormouse::desktop {

// The one boot of a template: from `plan.root_disk()` through `plan.disk()` to a
// drawn desktop that has come to rest, then the memory image of that instant
// into `plan.folder`. `plan.disk()` is then the disk of the same instant.
Task<Result<>> boot_and_save(Host& host, Template plan, std::function<void(double, std::string)> progress,
                             std::shared_ptr<std::atomic<bool>> cancelled);

// Wakes the image once, on a layer that is thrown away, and waits for the agent:
// a template that cannot be woken is not given to anybody.
Task<Result<>> try_wake(Host& host, Template plan, std::shared_ptr<std::atomic<bool>> cancelled);

// Ends machines that an earlier, interrupted bake has left.
Task<void> end_boot_machines(Host& host);

}  // namespace dormouse::desktop

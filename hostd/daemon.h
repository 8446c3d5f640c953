// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hostd/base/config.h"
#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "hostd/base/work_pool.h"
#include "hostd/desktop/host.h"

namespace dormouse {

// What daemon and bake know of this host: QEMU, accelerator, users, folders.
// Blocks while the accelerator is tried.
Result<desktop::Host> look_at_host(Config config, EventLoop& loop, WorkPool& pool);

// Serves until SIGINT or SIGTERM. Desktops go on running afterwards; the next
// daemon takes them over.
Result<> run_daemon(desktop::Host& host);

}  // namespace dormouse

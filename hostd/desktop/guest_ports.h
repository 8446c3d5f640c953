// SPDX-License-Identifier: Apache-2.0
// What actions need of the agent in the guest, over a machine's guest channel.
// The guest is hostile: what it says is checked, and the worst is a wrong answer.
// Core thread. They keep no machine alive, and `loop` must outlive them.
#pragma once

#include <memory>

#include "hostd/desktop/action_engine.h"
#include "vmm/machine.h"

namespace dormouse::desktop {

PastePort paste_port(std::weak_ptr<vmm::Machine> machine, EventLoop& loop, bool emulated);
GuestMousePort mouse_port(std::weak_ptr<vmm::Machine> machine);

// Where there is an agent: an answer of the guest's X server tells that it runs,
// and the pointer where it was sent that it has taken all up to then.
InputDevice::Sync input_sync(std::weak_ptr<vmm::Machine> machine, EventLoop& loop);

}  // namespace dormouse::desktop

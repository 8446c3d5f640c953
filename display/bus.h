// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemd/sd-bus.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "hostd/base/result.h"
#include "hostd/base/unique_fd.h"

// sd-bus handles; only for sources of this folder. A message that is used after
// its handler returns needs a reference of its own; a slot must go before the
// object that its callback points to; none of them may cross threads.
namespace dormouse::display {

template <auto Release>
struct CallRelease {
    template <class T>
    void operator()(T* pointer) const noexcept {
        Release(pointer);
    }
};
using BusHandle =
    std::unique_ptr<sd_bus, CallRelease<sd_bus_close_unref>>;  // does not flush: flushing blocks
using BusMessage = std::unique_ptr<sd_bus_message, CallRelease<sd_bus_message_unref>>;
using BusSlot = std::unique_ptr<sd_bus_slot, CallRelease<sd_bus_slot_unref>>;

// sd-bus returns -errno; what is not negative is fine. Errc::Interrupted when
// the other side is gone.
inline Result<> check_bus(int code, std::string_view doing) {
    if (code >= 0) return {};
    auto failure = fail_errno(doing, -code);
    if (code == -ECONNRESET || code == -EPIPE || code == -ENOTCONN) failure.value().code = Errc::Interrupted;
    return failure;
}

}  // namespace dormouse::display

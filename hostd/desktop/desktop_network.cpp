// SPDX-License-Identifier: Apache-2.0
// The desktop's network: the part of Desktop that has its mode.
#include "hostd/desktop/desktop.h"

namespace dormouse::desktop {

net::Mode Desktop::network_mode() const {
    // What cannot be read reaches nothing.
    const auto mode = net::parse_mode(row_.network);
    return mode ? *mode : net::Mode::None;
}

Task<Result<>> Desktop::set_network(net::Mode mode) {
    const auto self = shared_from_this();
    const auto before = row_.network;
    row_.network = net::mode_name(mode);
    auto saved = co_await save_(row_);
    if (!saved) row_.network = before;
    if (saved && row_.network != before) tell(DesktopChange::Details);
    co_return saved;
}

}  // namespace dormouse::desktop

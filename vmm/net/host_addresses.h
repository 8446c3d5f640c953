// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "hostd/base/result.h"
#include "vmm/net/address.h"

namespace dormouse::net {

// The IPv4 addresses of all interfaces of this host, and their broadcasts.
Result<std::set<Address>> host_addresses();

}  // namespace dormouse::net

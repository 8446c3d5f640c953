// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/host_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>

namespace dormouse::net {

namespace {

struct Free {
    void operator()(ifaddrs* list) const noexcept { ::freeifaddrs(list); }
};

void add(std::set<Address>& all, const sockaddr* socket) {
    if (!socket || socket->sa_family != AF_INET) return;
    sockaddr_in in{};
    std::memcpy(&in, socket, sizeof in);
    all.insert(Address{ntohl(in.sin_addr.s_addr)});
}

}  // namespace

Result<std::set<Address>> host_addresses() {
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return fail_errno("cannot list the addresses of this host");
    const std::unique_ptr<ifaddrs, Free> list{first};
    std::set<Address> all;
    for (const auto* one = first; one; one = one->ifa_next) {
        add(all, one->ifa_addr);
        if ((one->ifa_flags & IFF_BROADCAST) != 0) add(all, one->ifa_broadaddr);
    }
    return all;
}

}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hostd/base/event_loop.h"
#include "hostd/base/result.h"
#include "vmm/net/address.h"

namespace dormouse::net {

struct Resolved {
    enum class Outcome { Found, NoSuchName, NoAddress, Failed };
    Outcome outcome = Outcome::Failed;
    std::vector<Address> addresses;
    std::chrono::seconds lifetime{0};
};

// Looks names up on behalf of a desktop. `done` comes once, from the loop or
// from inside the call. Destroying it completes what is open as Failed.
class Resolver {
  public:
    using Done = std::function<void(Resolved)>;
    virtual ~Resolver() = default;
    virtual void resolve(const std::string& name, Done done) = 0;
};

// Asks the DNS servers of this host (/etc/resolv.conf, read again when it has
// changed), or `server` ("127.0.0.1:5353") when that is not empty. Only DNS: not
// the names in /etc/hosts, no search domains, no addresses written as names.
Result<std::unique_ptr<Resolver>> make_dns_resolver(EventLoop& loop, const std::string& server);

}  // namespace dormouse::net

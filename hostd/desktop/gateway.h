// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hostd/base/event_loop.h"
#include "hostd/desktop/commands.h"

namespace dormouse::desktop {

// Who asks.
struct Caller {
    std::string token;  // id of the token, for the audit log
    Scope scope = Scope::Agent;
};

struct VersionInfo {
    std::string version;
    std::string qemu;
    std::string accelerator;         // "tcg" or "kvm"
    std::string accelerator_reason;  // why
};

// The one door into the domain: what every adapter of the API calls. All of it
// belongs to the core thread.
class Gateway {
  public:
    virtual ~Gateway() = default;

    // Finds out who a bearer token belongs to. Errc::Unauthenticated when nobody.
    virtual Task<Result<Caller>> authenticate(std::string bearer) = 0;

    // Checks scope and state, carries the command out, writes one audit row.
    // When `cancel` is cancelled (the client went away) what is in progress
    // stops as soon as it can, and no key or button stays down.
    virtual Task<Result<Answer>> execute(Command command, Caller caller, Cancel cancel) = 0;

    virtual VersionInfo version() const = 0;
};

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "hostd/base/event_loop.h"
#include "hostd/base/secret.h"
#include "hostd/desktop/commands.h"
#include "hostd/desktop/events.h"

namespace dormouse::desktop {

// A request that the client may send again, and wants carried out once: with the
// key that it gave it. Keys of different tokens have nothing to do with each other.
struct OnceKey {
    std::string key;
    std::string request;  // what is asked for, in bytes that differ when it is something else
};

// Who asks.
struct Caller {
    std::string token;  // id of the token, for the audit log
    Scope scope = Scope::Agent;
    TokenLimits limits{};
    std::optional<WallTime> expires_at{};
    // Seals what is kept for this caller; made from its token, and kept nowhere.
    Secret seal{""};
    // The request's, between claim() and settle().
    std::optional<OnceKey> once{};
};

struct VersionInfo {
    std::string version;
    std::string qemu;
    std::string accelerator;         // "tcg" or "kvm"
    std::string accelerator_reason;  // why
};

// What becomes of a request with a OnceKey.
struct CarryOut {};  // it is new: carry it out, then settle()
struct Replay {
    std::string answer;  // as it was given to settle()
};
struct AnswerAgain {
    Answer answer;  // it was carried out, but the daemon ended before the answer was kept
};
using Claim = std::variant<CarryOut, Replay, AnswerAgain>;

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

    // Whether this is a request that came before. Waits while that is in progress
    // (Errc::Conflict where it is not over when `cancel` is cancelled).
    // Errc::Conflict when the key was used for something else.
    virtual Task<Result<Claim>> claim(Caller caller, OnceKey once, Cancel cancel) = 0;
    // After CarryOut: keeps the answer (bytes, sealed, for a day), or without one
    // frees the key: the request failed and may be tried again.
    virtual void settle(const Caller& caller, const OnceKey& once, std::optional<std::string> answer) = 0;

    // Calls `sink` with what happens to what the caller sees, until the watch is
    // destroyed: first with what came after the event with that id.
    virtual Result<std::unique_ptr<EventWatch>> watch_events(const Caller& caller,
                                                             std::optional<std::uint64_t> after,
                                                             EventSink sink) = 0;

    virtual VersionInfo version() const = 0;
};

}  // namespace dormouse::desktop

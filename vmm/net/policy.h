// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hostd/base/result.h"
#include "vmm/net/address.h"

// What a desktop may reach. Plain values and rules, any thread.
namespace dormouse::net {

// Open: all of the internet, nothing of this host and of private networks.
// None: nothing at all.
enum class Mode { Open, None };
std::string_view mode_name(Mode mode);  // "open"
Result<Mode> parse_mode(std::string_view name);

// One service that the administrator has opened, for all desktops. That of the
// host's own loopback (127.0.0.1:9000) is reached at the gateway's address
// (10.0.2.2:9000): 127.0.0.1 is the desktop's own.
struct Exception {
    Address address;
    std::uint16_t port = 0;
    friend auto operator<=>(const Exception&, const Exception&) = default;
};
// "10.1.2.3:8080": an address and a port, nothing wider.
Result<Exception> parse_exception(std::string_view text);
Result<std::vector<Exception>> parse_exceptions(const std::vector<std::string>& texts);
std::string to_text(const Exception& exception);

struct PolicySettings {
    Mode mode = Mode::None;
    std::vector<Exception> allow;
    friend bool operator==(const PolicySettings&, const PolicySettings&) = default;
};

// Where a desktop wants to connect to. `names` are those that it was told the
// address for; rules about names will look at them.
struct Destination {
    Address address;
    std::uint16_t port = 0;
    std::vector<std::string> names;
};

struct Decision {
    bool allowed = false;
    std::string_view reason;  // why not; "" or "allowed by the administrator" else
    Address connect_to;       // differs from the destination only for the host's loopback
};

class Policy {
  public:
    Policy() = default;  // nothing is allowed
    // `own`: the addresses of this host, which no desktop may reach.
    Policy(PolicySettings settings, std::set<Address> own);

    // About one connection, at the moment when it is opened.
    Decision decide(const Destination& destination) const;

    // Whether a name's address may be told to the desktop. Its ports are decided
    // about when it connects.
    Decision may_tell(Address address) const;

    const PolicySettings& settings() const { return settings_; }
    Mode mode() const { return settings_.mode; }

  private:
    bool has_exception(Address address, std::uint16_t port) const;
    std::string_view never_reason(Address address) const;  // "" when it is an address of the internet

    PolicySettings settings_;
    std::set<Exception> exceptions_;
    std::set<Address> own_;
};

}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostd/base/clock.h"
#include "vmm/net/address.h"

namespace dormouse::net {

// Which addresses a name was said to have, and back: which names the desktop was
// told an address for. Bounded; the names not asked for longest go first. One thread.
class NameCache {
  public:
    static constexpr std::size_t kMostNames = 2048;
    static constexpr std::size_t kMostAddresses = 32;  // of a name

    explicit NameCache(const Clock& clock) : clock_(clock) {}

    void remember(const std::string& name, std::vector<Address> addresses, Duration lifetime);
    // The desktop was told this address for that name, which is remembered.
    void told(const std::string& name, Address address);
    struct Known {
        std::vector<Address> addresses;
        Duration lifetime;  // that is left
    };
    std::optional<Known> find(const std::string& name);  // while it holds
    // The latest first. Programs keep addresses for longer than they should: these
    // are remembered past the name's lifetime.
    std::vector<std::string> names_of(Address address) const;

  private:
    struct Entry {
        std::vector<Address> addresses;
        MonotonicTime until;
        std::vector<Address> told;  // the latest first
        std::list<std::string>::iterator use;
    };
    void forget(const std::string& name);
    void forget_told(const std::string& name, Address address);

    const Clock& clock_;
    std::map<std::string, Entry> entries_;
    std::list<std::string> uses_;  // the latest first
    std::map<Address, std::vector<std::string>> names_;
};

}  // namespace dormouse::net

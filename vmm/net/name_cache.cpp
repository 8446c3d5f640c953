// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/name_cache.h"

#include <algorithm>
#include <utility>

namespace dormouse::net {

void NameCache::remember(const std::string& name, std::vector<Address> addresses, Duration lifetime) {
    if (addresses.size() > kMostAddresses) addresses.resize(kMostAddresses);
    const auto until = clock_.now() + lifetime;
    if (const auto found = entries_.find(name); found != entries_.end()) {
        auto& entry = found->second;
        entry.addresses = std::move(addresses);
        entry.until = until;
        uses_.splice(uses_.begin(), uses_, entry.use);
        return;
    }
    while (entries_.size() >= kMostNames) forget(std::string{uses_.back()});
    uses_.push_front(name);
    entries_.emplace(name, Entry{std::move(addresses), until, {}, uses_.begin()});
}

void NameCache::told(const std::string& name, Address address) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;
    auto& told = found->second.told;
    std::erase(told, address);
    told.insert(told.begin(), address);
    while (told.size() > kMostAddresses) {
        forget_told(name, told.back());
        told.pop_back();
    }
    auto& names = names_[address];
    std::erase(names, name);
    names.insert(names.begin(), name);
}

std::optional<NameCache::Known> NameCache::find(const std::string& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return std::nullopt;
    auto& entry = found->second;
    uses_.splice(uses_.begin(), uses_, entry.use);
    const auto left = entry.until - clock_.now();
    if (left <= Duration::zero()) return std::nullopt;
    return Known{entry.addresses, left};
}

std::vector<std::string> NameCache::names_of(Address address) const {
    const auto found = names_.find(address);
    return found == names_.end() ? std::vector<std::string>{} : found->second;
}

void NameCache::forget(const std::string& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;
    for (const auto address : found->second.told) forget_told(name, address);
    uses_.erase(found->second.use);
    entries_.erase(found);
}

void NameCache::forget_told(const std::string& name, Address address) {
    const auto names = names_.find(address);
    if (names == names_.end()) return;
    std::erase(names->second, name);
    if (names->second.empty()) names_.erase(names);
}

}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vmm/net/destination_log.h"
#include "vmm/net/dns_message.h"
#include "vmm/net/name_cache.h"
#include "vmm/net/policy.h"
#include "vmm/net/rate_limit.h"
#include "vmm/net/resolver.h"

namespace dormouse::net {

// The desktop's name server, 10.0.2.3. It answers from the host's resolver and
// tells no address that the policy refuses: a name that has only such does not
// exist. The policy is asked again when the desktop connects.
//
// Addresses (A) are resolved; other types have no answers (AAAA, HTTPS, ...), do
// not exist (PTR) or are refused (TXT, NULL, ANY, which carry data). One thread;
// everything given to it must outlive it, and it must outlive the resolver.
class NameServer {
  public:
    static constexpr std::size_t kMostOpen = 256;  // names being resolved
    static constexpr double kRate = 100;           // queries a second
    static constexpr double kBurst = 300;

    using Reply = std::function<void(std::string message)>;

    NameServer(const Clock& clock, Resolver& resolver, NameCache& cache, DestinationLog& log);

    void set_policy(const Policy& policy) { policy_ = &policy; }

    // `reply` comes once or, for what deserves no answer, never.
    void handle(std::string_view message, Reply reply);

  private:
    struct Waiting {
        DnsQuery query;
        Reply reply;
    };
    void resolve(DnsQuery query, Reply reply);
    void on_resolved(const std::string& name, const Resolved& resolved);
    DnsAnswer allowed_part(const std::string& name, const std::vector<Address>& addresses,
                           std::chrono::seconds lifetime);
    void refused(const std::string& name, std::string_view reason);

    const Clock& clock_;
    Resolver& resolver_;
    NameCache& cache_;
    DestinationLog& log_;
    const Policy* policy_ = nullptr;
    RateLimit rate_{kRate, kBurst};
    std::map<std::string, std::vector<Waiting>> waiting_;
};

}  // namespace dormouse::net

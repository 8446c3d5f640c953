// SPDX-License-Identifier: Apache-2.0
// Questions of a guest: never a crash, and never an answer that is longer than
// was offered.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "vmm/net/dns_message.h"
#include "vmm/net/gate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dormouse::net;
    const std::string_view message{reinterpret_cast<const char*>(data), size};
    const auto read = read_dns_query(message);
    if (read.query && read.refusal) std::abort();
    if (read.refusal && read.refusal->size() < 12) std::abort();
    if (read.query) {
        const auto& query = *read.query;
        if (query.name.size() > 253 || query.most > kMostDnsAnswer) std::abort();
        for (const char c : query.name)
            if (query.plain_name && c != '.' && (c < '-' || c > 'z')) std::abort();
        (void)is_host_name(query.name);
        const std::vector<Address> many(100, address(192, 0, 2, 1));
        const auto answer = make_dns_answer(query, {.status = DnsStatus::Good, .addresses = many});
        if (answer.size() > query.most && answer.size() > 12 + query.question.size() + 11) std::abort();
    }
    (void)is_dhcp_request({data, size});
    return 0;
}

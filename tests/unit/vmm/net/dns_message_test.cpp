// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/dns_message.h"

#include <gtest/gtest.h>

#include "guest_frames.h"

namespace dormouse::net {
namespace {

int status_of(const std::string& message) {
    return static_cast<unsigned char>(message[3]) & 15;
}
int answers_in(const std::string& message) {
    return static_cast<unsigned char>(message[6]) << 8 | static_cast<unsigned char>(message[7]);
}
// With an OPT record that offers `size` bytes.
std::string extended(std::string message, std::uint16_t size) {
    message[11] = 1;
    message += std::string{"\0\0\x29", 3};
    message += static_cast<char>(size >> 8);
    message += static_cast<char>(size);
    return message + std::string(6, '\0');
}

TEST(DnsMessage, ReadsAQuestion) {
    const auto read = read_dns_query(dns_query("WWW.Example.org", dns_type::kAaaa));
    ASSERT_TRUE(read.query);
    EXPECT_EQ(read.query->id, 0x1234);
    EXPECT_EQ(read.query->name, "www.example.org");
    EXPECT_TRUE(read.query->plain_name);
    EXPECT_EQ(read.query->type, dns_type::kAaaa);
    EXPECT_TRUE(read.query->recursion_desired);
    EXPECT_EQ(read.query->most, 512U);
}

TEST(DnsMessage, RepeatsTheQuestionAsItWas) {
    const auto question = dns_query("WWW.Example.org");
    const auto answer =
        make_dns_answer(*read_dns_query(question).query, {.status = DnsStatus::Good,
                                                          .addresses = {address(192, 0, 2, 1)},
                                                          .lifetime = std::chrono::seconds{60}});
    EXPECT_EQ(answer.substr(12, question.size() - 12), question.substr(12));
    EXPECT_EQ(answers_in(answer), 1);
    EXPECT_EQ(answer.substr(answer.size() - 4), (std::string{"\xc0\x00\x02\x01", 4}));
    EXPECT_EQ(answer.substr(0, 2), "\x12\x34");
}

TEST(DnsMessage, PutsInAsManyAddressesAsFit) {
    const std::vector<Address> many(200, address(192, 0, 2, 1));
    const auto plain = *read_dns_query(dns_query("example.org")).query;
    const auto small = make_dns_answer(plain, {.status = DnsStatus::Good, .addresses = many});
    EXPECT_LE(small.size(), 512U);
    EXPECT_EQ(answers_in(small), 30);
    const auto more = *read_dns_query(extended(dns_query("example.org"), 4096)).query;
    EXPECT_EQ(more.most, kMostDnsAnswer);
    const auto large = make_dns_answer(more, {.status = DnsStatus::Good, .addresses = many});
    EXPECT_LE(large.size(), kMostDnsAnswer);
    EXPECT_GT(answers_in(large), 70);
    EXPECT_EQ(large[11], 1) << "who offers EDNS is answered with it";
    EXPECT_EQ(small[2] & 2, 0) << "never truncated: nobody needs TCP";
}

TEST(DnsMessage, RefusesWhatIsMalformedAndIgnoresAnswers) {
    const auto status = [](const std::string& message) {
        const auto read = read_dns_query(message);
        return read.refusal ? status_of(*read.refusal) : -1;
    };
    const auto good = dns_query("example.org");
    for (std::size_t size = 0; size < 12; ++size) {
        const auto read = read_dns_query(good.substr(0, size));
        EXPECT_FALSE(read.query || read.refusal) << size;
    }
    for (std::size_t size = 12; size < good.size(); ++size)
        EXPECT_EQ(status(good.substr(0, size)), 1) << size;
    EXPECT_EQ(status(good + "x"), 1);
    auto spoilt = good;
    spoilt[2] = '\x81';
    EXPECT_FALSE(read_dns_query(spoilt).refusal) << "an answer";
    spoilt = good;
    spoilt[2] = '\x29';
    EXPECT_EQ(status(spoilt), 4) << "an update";
    spoilt = good;
    spoilt[5] = 2;
    EXPECT_EQ(status(spoilt), 1) << "two questions";
    spoilt = good;
    spoilt[12] = '\xc0';
    EXPECT_EQ(status(spoilt), 1) << "a pointer";
    EXPECT_EQ(status(dns_query(std::string(64, 'a'))), 1) << "a label of 64";
    std::string name;
    for (int i = 0; i < 128; ++i) name += "a.";
    EXPECT_EQ(status(dns_query(name)), 1) << "a name of 255";
    EXPECT_EQ(status(extended(good, 512) + "x"), 1);
}

TEST(DnsMessage, KnowsPlainNames) {
    EXPECT_TRUE(read_dns_query(dns_query("_dmarc.xn--bcher-kva.example")).query->plain_name);
    for (const auto* name : {"a b.org", "a\\b.org", "b\xc3\xbc.org", "a/b.org", "user@example.org"})
        EXPECT_FALSE(read_dns_query(dns_query(name)).query->plain_name) << name;
    EXPECT_FALSE(read_dns_query(dns_query(std::string{"a\0b.org", 7})).query->plain_name);
}

TEST(DnsMessage, KnowsHostNamesFromNumbersInDisguise) {
    for (const auto* name : {"example.org", "a", "4chan.org", "xn--p1ai"})
        EXPECT_TRUE(is_host_name(name)) << name;
    for (const auto* name :
         {"", "127.0.0.1", "127.1", "0x7f000001", "2130706433", "localhost", "a.localhost"})
        EXPECT_FALSE(is_host_name(name)) << name;
}

}  // namespace
}  // namespace dormouse::net

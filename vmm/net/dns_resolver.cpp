// SPDX-License-Identifier: Apache-2.0
// The resolver over c-ares.
#include <ares.h>
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "vmm/net/resolver.h"

namespace dormouse::net {

namespace {

// Two tries of two seconds for each server: glibc gives up after ten in all.
constexpr int kTimeoutMs = 2000;
constexpr int kTries = 2;
constexpr int kMostRecords = 64;
constexpr auto kLookAtConfiguration = std::chrono::seconds{5};
constexpr const char* kConfiguration = "/etc/resolv.conf";

struct Library {
    Library() : status(ares_library_init(ARES_LIB_INIT_ALL)) {}
    ~Library() { ares_library_cleanup(); }
    int status;
};

tl::unexpected<Error> fail_ares(std::string_view doing, int status) {
    return fail(Errc::Unavailable, fmt::format("{}: {}", doing, ares_strerror(status)));
}

timespec changed_at() {
    struct stat info {};
    return ::stat(kConfiguration, &info) == 0 ? info.st_mtim : timespec{};
}

class DnsResolver final : public Resolver {
  public:
    DnsResolver(EventLoop& loop, std::string server) : loop_(loop), server_(std::move(server)) {}
    ~DnsResolver() override { close(); }

    Result<> open() {
        if (library_.status != ARES_SUCCESS) return fail_ares("c-ares cannot start", library_.status);
        ares_options options{};
        options.timeout = kTimeoutMs;
        options.tries = kTries;
        options.lookups = lookups_.data();
        options.sock_state_cb = [](void* self, ares_socket_t socket, int read, int write) {
            static_cast<DnsResolver*>(self)->watch(socket, read != 0, write != 0);
        };
        options.sock_state_cb_data = this;
        const int made = ares_init_options(
            &channel_, &options,
            ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB);
        if (made != ARES_SUCCESS) {
            channel_ = nullptr;
            return fail_ares("cannot prepare to ask DNS servers", made);
        }
        if (!server_.empty()) {
            const int set = ares_set_servers_ports_csv(channel_, server_.c_str());
            if (set != ARES_SUCCESS) return fail_ares(fmt::format("the DNS server {}", server_), set);
        }
        configuration_ = changed_at();
        looked_at_ = loop_.clock().now();
        return {};
    }

    void resolve(const std::string& name, Done done) override {
        refresh();
        if (!channel_) return done({});
        auto* waiting = new Waiting{std::move(done)};
        ares_query(channel_, name.c_str(), ns_c_in, ns_t_a, on_answer, waiting);
        schedule();
    }

  private:
    struct Waiting {
        Done done;
    };

    void close() {
        if (channel_) ares_destroy(std::exchange(channel_, nullptr));  // answers what is open
        loop_.cancel_timer(std::exchange(timer_, 0));
        watches_.clear();
    }

    void refresh() {
        const auto now = loop_.clock().now();
        if (!server_.empty() || now - looked_at_ < kLookAtConfiguration) return;
        looked_at_ = now;
        const auto changed = changed_at();
        if (changed.tv_sec == configuration_.tv_sec && changed.tv_nsec == configuration_.tv_nsec) return;
        close();
        (void)open().has_value();  // without a channel every name fails, until the next look
    }

    static void on_answer(void* of, int status, int, unsigned char* answer, int length) {
        const std::unique_ptr<Waiting> waiting{static_cast<Waiting*>(of)};
        waiting->done(read_answer(status, answer, length));
    }

    static Resolved read_answer(int status, const unsigned char* answer, int length) {
        if (status == ARES_ENOTFOUND) return {Resolved::Outcome::NoSuchName, {}, {}};
        if (status == ARES_ENODATA) return {Resolved::Outcome::NoAddress, {}, {}};
        if (status != ARES_SUCCESS) return {};
        std::array<ares_addrttl, kMostRecords> records{};
        int count = kMostRecords;
        const int parsed = ares_parse_a_reply(answer, length, nullptr, records.data(), &count);
        if (parsed == ARES_ENODATA) return {Resolved::Outcome::NoAddress, {}, {}};
        if (parsed != ARES_SUCCESS) return {};
        Resolved found{Resolved::Outcome::Found, {}, std::chrono::seconds{300}};
        for (int i = 0; i < count; ++i) {
            found.addresses.push_back(Address{ntohl(records[static_cast<std::size_t>(i)].ipaddr.s_addr)});
            found.lifetime = std::min(
                found.lifetime, std::chrono::seconds{std::max(0, records[static_cast<std::size_t>(i)].ttl)});
        }
        return found;
    }

    void watch(ares_socket_t socket, bool read, bool write) {
        const auto events = static_cast<short>((read ? POLLIN : 0) | (write ? POLLOUT : 0));
        if (events == 0) {
            watches_.erase(socket);
            return;
        }
        const auto found = watches_.find(socket);
        if (found != watches_.end()) return found->second.set_events(events);
        watches_.emplace(socket, loop_.watch(socket, events, [this, socket](short ready) {
            const bool failed = (ready & (POLLERR | POLLHUP | POLLNVAL)) != 0;
            process((ready & POLLIN) != 0 || failed ? socket : ARES_SOCKET_BAD,
                    (ready & POLLOUT) != 0 ? socket : ARES_SOCKET_BAD);
        }));
    }

    void process(ares_socket_t readable, ares_socket_t writable) {
        if (!channel_) return;
        ares_process_fd(channel_, readable, writable);
        schedule();
    }

    // Until the next time-out of a question that is open.
    void schedule() {
        loop_.cancel_timer(std::exchange(timer_, 0));
        timeval longest{60, 0};
        timeval next{};
        if (!channel_ || watches_.empty()) return;
        const auto* wait = ares_timeout(channel_, &longest, &next);
        const auto delay = std::chrono::seconds{wait->tv_sec} + std::chrono::microseconds{wait->tv_usec};
        timer_ = loop_.after(delay + std::chrono::milliseconds{1}, [this] {
            timer_ = 0;
            process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
        });
    }

    EventLoop& loop_;
    const std::string server_;
    Library library_;
    std::array<char, 2> lookups_{'b', '\0'};  // DNS only, no hosts file
    ares_channel channel_ = nullptr;
    std::map<ares_socket_t, EventLoop::IoWatch> watches_;
    EventLoop::TimerId timer_ = 0;
    timespec configuration_{};
    MonotonicTime looked_at_{};
};

}  // namespace

Result<std::unique_ptr<Resolver>> make_dns_resolver(EventLoop& loop, const std::string& server) {
    auto resolver = std::make_unique<DnsResolver>(loop, server);
    DORMOUSE_TRY(resolver->open());
    return std::unique_ptr<Resolver>{std::move(resolver)};
}

}  // namespace dormouse::net

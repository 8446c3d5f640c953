// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/slirp_stack.h"

#include <arpa/inet.h>
#include <glib.h>
#include <slirp/libslirp.h>

#include <algorithm>
#include <utility>

namespace dormouse::net {

namespace {

constexpr std::uint32_t kLongestWaitMs = 60'000;

struct Timer {
    EventLoop& loop;
    SlirpTimerCb callback;
    void* opaque;
    EventLoop::TimerId id = 0;
};

in_addr to_in_addr(Address address) {
    return {htonl(address.value)};
}

}  // namespace

// What libslirp calls. It knows nothing of exceptions: none may pass through it.
struct SlirpCallbacks {
    static SlirpStack& self(void* opaque) { return *static_cast<SlirpStack*>(opaque); }

    static ssize_t send_packet(const void* data, std::size_t size, void* opaque) noexcept {
        auto& stack = self(opaque);
        const auto* bytes = static_cast<const std::uint8_t*>(data);
        stack.out_.assign(bytes, bytes + size);
        stack.to_guest_(stack.out_);
        return static_cast<ssize_t>(size);
    }
    static void guest_error(const char*, void*) noexcept {}
    static std::int64_t clock_ns(void* opaque) noexcept {
        return self(opaque).loop_.clock().now().time_since_epoch().count();
    }
    static void* timer_new(SlirpTimerCb callback, void* callback_opaque, void* opaque) noexcept {
        return new Timer{self(opaque).loop_, callback, callback_opaque};
    }
    static void timer_free(void* of, void*) noexcept {
        const std::unique_ptr<Timer> timer{static_cast<Timer*>(of)};
        if (timer) timer->loop.cancel_timer(timer->id);
    }
    static void timer_mod(void* of, std::int64_t expires_ms, void*) noexcept {
        auto* timer = static_cast<Timer*>(of);
        timer->loop.cancel_timer(timer->id);
        const auto delay =
            std::chrono::milliseconds{expires_ms} - timer->loop.clock().now().time_since_epoch();
        timer->id = timer->loop.after(std::max<Duration>(delay, Duration::zero()),
                                      [timer] { timer->callback(timer->opaque); });
    }
    static void ignore_fd(int, void*) noexcept {}
    static void notify(void*) noexcept {}

    static int add_poll(int fd, int events, void* opaque) noexcept { return self(opaque).add(fd, events); }
    static int get_ready(int index, void* opaque) noexcept { return self(opaque).ready(index); }
};

void SlirpStack::Close::operator()(Slirp* slirp) const noexcept {
    slirp_cleanup(slirp);
}

SlirpStack::SlirpStack(EventLoop& loop, ToGuest to_guest) : loop_(loop), to_guest_(std::move(to_guest)) {}
SlirpStack::~SlirpStack() = default;

Result<std::unique_ptr<SlirpStack>> SlirpStack::make(EventLoop& loop, ToGuest to_guest) {
    // What the guest can provoke it to say goes nowhere.
    g_log_set_default_handler([](const char*, GLogLevelFlags, const char*, void*) {}, nullptr);
    static const SlirpCb callbacks{.send_packet = SlirpCallbacks::send_packet,
                                   .guest_error = SlirpCallbacks::guest_error,
                                   .clock_get_ns = SlirpCallbacks::clock_ns,
                                   .timer_new = SlirpCallbacks::timer_new,
                                   .timer_free = SlirpCallbacks::timer_free,
                                   .timer_mod = SlirpCallbacks::timer_mod,
                                   .register_poll_fd = SlirpCallbacks::ignore_fd,
                                   .unregister_poll_fd = SlirpCallbacks::ignore_fd,
                                   .notify = SlirpCallbacks::notify,
                                   .init_completed = nullptr,
                                   .timer_new_opaque = nullptr};
    SlirpConfig config{};
    config.version = 4;
    config.in_enabled = true;
    config.vnetwork = to_in_addr(kGuestNetwork.base);
    config.vnetmask = to_in_addr(address(255, 255, 255, 0));
    config.vhost = to_in_addr(kGateway);
    config.vdhcp_start = to_in_addr(kGuestAddress);
    config.vnameserver = to_in_addr(kNameServer);
    config.if_mtu = 1500;
    config.if_mru = 1500;
    config.disable_host_loopback = true;
    config.disable_dns = true;
    std::unique_ptr<SlirpStack> stack{new SlirpStack{loop, std::move(to_guest)}};
    stack->slirp_.reset(slirp_new(&config, &callbacks, stack.get()));
    if (!stack->slirp_) return fail(Errc::Internal, "libslirp does not start");
    return stack;
}

void SlirpStack::input(Bytes frame) {
    slirp_input(slirp_.get(), frame.data(), static_cast<int>(frame.size()));
}

int SlirpStack::add(int fd, int events) {
    int asked = 0;
    if ((events & SLIRP_POLL_IN) != 0) asked |= POLLIN;
    if ((events & SLIRP_POLL_OUT) != 0) asked |= POLLOUT;
    if ((events & SLIRP_POLL_PRI) != 0) asked |= POLLPRI;
    const auto wanted = static_cast<short>(asked);
    const auto index = polled_.size();
    polled_.push_back({fd, wanted, 0});
    auto& watch = watches_[fd];
    if (!watch.watch) {
        watch.watch = loop_.watch(fd, wanted, [this, fd](short ready) {
            const auto found = watches_.find(fd);
            if (found != watches_.end() && found->second.index < polled_.size())
                polled_[found->second.index].ready = ready;
        });
    } else if (watch.events != wanted) {
        watch.watch.set_events(wanted);
    }
    watch.events = wanted;
    watch.index = index;
    watch.round = round_;
    return static_cast<int>(index);
}

int SlirpStack::ready(int index) const {
    if (index < 0 || static_cast<std::size_t>(index) >= polled_.size()) return 0;
    const auto ready = polled_[static_cast<std::size_t>(index)].ready;
    int events = 0;
    if ((ready & POLLIN) != 0) events |= SLIRP_POLL_IN;
    if ((ready & POLLOUT) != 0) events |= SLIRP_POLL_OUT;
    if ((ready & POLLPRI) != 0) events |= SLIRP_POLL_PRI;
    if ((ready & POLLERR) != 0) events |= SLIRP_POLL_ERR;
    if ((ready & (POLLHUP | POLLNVAL)) != 0) events |= SLIRP_POLL_HUP;
    return events;
}

Duration SlirpStack::before_wait() {
    ++round_;
    polled_.clear();
    std::uint32_t timeout = kLongestWaitMs;
    slirp_pollfds_fill(slirp_.get(), &timeout, SlirpCallbacks::add_poll, this);
    // What is not asked about any more may be closed by now.
    std::erase_if(watches_, [this](const auto& one) { return one.second.round != round_; });
    return std::chrono::milliseconds{timeout};
}

void SlirpStack::after_wait() {
    slirp_pollfds_poll(slirp_.get(), 0, SlirpCallbacks::get_ready, this);
}

}  // namespace dormouse::net

// SPDX-License-Identifier: Apache-2.0
#include "vmm/net/netd_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "hostd/base/log.h"
#include "vmm/qemu_command.h"

namespace dormouse::net {

namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds{20};
constexpr Duration kLongestPause = std::chrono::seconds{1};

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};

}  // namespace

NetdLink::NetdLink(EventLoop& loop, std::string id, std::filesystem::path run_folder, PolicySettings policy,
                   OnReport on_report)
    : loop_(loop),
      id_(std::move(id)),
      run_folder_(std::move(run_folder)),
      policy_(std::move(policy)),
      on_report_(std::move(on_report)),
      pause_(kFirstPause) {}

NetdLink::~NetdLink() {
    loop_.cancel_timer(timer_);
}

std::shared_ptr<NetdLink> NetdLink::open(EventLoop& loop, std::string id, std::filesystem::path run_folder,
                                         PolicySettings policy, OnReport on_report) {
    std::shared_ptr<NetdLink> link{
        new NetdLink{loop, std::move(id), std::move(run_folder), std::move(policy), std::move(on_report)}};
    link->connect();
    return link;
}

void NetdLink::connect() {
    if (closed_) return;
    auto socket = vmm::connect_unix(vmm::network_control_socket(run_folder_), SOCK_STREAM);
    if (!socket) return connect_later();
    pause_ = kFirstPause;
    attach(std::move(*socket));
}

void NetdLink::connect_later() {
    loop_.cancel_timer(timer_);
    timer_ = loop_.after(pause_, [this] {
        timer_ = 0;
        connect();
    });
    pause_ = std::min(pause_ * 2, kLongestPause);
}

void NetdLink::attach(UniqueFd socket) {
    lines_.emplace(kLongestControlLine);
    vmm::ByteStream::Handlers handlers;
    handlers.on_bytes = [this](std::string_view bytes) {
        lines_->feed(bytes);
        while (const auto line = lines_->next()) on_line(*line);
    };
    handlers.on_closed = [this] { lose(); };
    stream_ = std::make_unique<vmm::ByteStream>(loop_, std::move(socket), std::move(handlers));
    unconfirmed_ = 0;
    send(SetPolicy{policy_});
    wake_waiting();
}

void NetdLink::lose() {
    stream_.reset();
    confirmed_ = false;
    wake_waiting();
    if (!closed_) connect_later();
}

void NetdLink::on_line(const std::string& line) {
    auto message = parse_from_netd(line);
    if (message) return on_message(std::move(*message));
    log::warn("netd.not_understood", {{"desktop", id_}, {"why", message.error().message}});
}

void NetdLink::on_message(FromNetd message) {
    std::visit(Overloaded{
                   [this](const PolicySet&) {
                       // They are answered in order: the last answer is about the last policy.
                       if (unconfirmed_ > 0 && --unconfirmed_ == 0) confirmed_ = true;
                   },
                   [this](const Flushed& one) { flushed_ = one.number; },
                   [this](Report& report) {
                       const auto sequence = report.sequence;
                       on_report_(std::move(report), [weak = weak_from_this(), sequence] {
                           if (const auto self = weak.lock()) self->send(Acknowledge{sequence});
                       });
                   },
               },
               message);
    wake_waiting();
}

void NetdLink::send(const ToNetd& message) {
    if (!stream_) return;
    if (std::holds_alternative<SetPolicy>(message)) {
        confirmed_ = false;
        ++unconfirmed_;
    }
    stream_->send(to_line(message));
}

Task<Result<>> NetdLink::apply(PolicySettings policy, Duration timeout) {
    const auto self = shared_from_this();
    policy_ = std::move(policy);
    confirmed_ = false;
    send(SetPolicy{policy_});
    const auto deadline = loop_.clock().now() + timeout;
    while (!confirmed_ && !closed_) {
        const auto left = deadline - loop_.clock().now();
        if (left <= Duration::zero())
            co_return fail(Errc::Timeout, "the desktop's network process did not answer in time");
        co_await wait_change(left);
    }
    co_return Result<>{};
}

Task<void> NetdLink::flush(Duration timeout) {
    const auto self = shared_from_this();
    const auto number = next_flush_++;
    send(Flush{number});
    const auto deadline = loop_.clock().now() + timeout;
    while (flushed_ < number && connected() && !closed_) {
        const auto left = deadline - loop_.clock().now();
        if (left <= Duration::zero()) co_return;
        co_await wait_change(left);
    }
}

Task<void> NetdLink::wait_change(Duration longest) {
    Completion<bool> changed{loop_};
    waiting_.push_back(changed);
    const auto timer = loop_.after(longest, [changed]() mutable { changed.complete(false); });
    co_await changed;
    loop_.cancel_timer(timer);
    std::erase_if(waiting_, [](const auto& waiter) { return waiter.done(); });
}

void NetdLink::wake_waiting() {
    for (auto& waiter : std::exchange(waiting_, {})) waiter.complete(true);
}

void NetdLink::close() {
    if (closed_) return;
    closed_ = true;
    loop_.cancel_timer(std::exchange(timer_, 0));
    stream_.reset();
    wake_waiting();
}

}  // namespace dormouse::net

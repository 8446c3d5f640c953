// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/port.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "hostd/base/log.h"

namespace dormouse::agent {

namespace {

constexpr auto kOpenRetry = std::chrono::milliseconds{500};
// A desktop that wakes has its port connected moments later: this is part of the
// time until the agent answers.
constexpr auto kHangupCheck = std::chrono::milliseconds{50};
constexpr std::size_t kMaxQueue = 16 << 20;
// Read in one go, so that several hellos that wait are seen together.
constexpr int kReadsAtOnce = 64;

}  // namespace

Port::Port(EventLoop& loop, std::filesystem::path path, Events events)
    : loop_(loop), path_(std::move(path)), events_(std::move(events)) {
    later(Duration::zero(), &Port::open);
}

Port::Port(EventLoop& loop, UniqueFd socket, Events events)
    : loop_(loop), events_(std::move(events)), fd_(std::move(socket)) {
    later(Duration::zero(), &Port::check);
}

Port::~Port() {
    loop_.cancel_timer(timer_);
    watch_.reset();
}

void Port::later(Duration delay, void (Port::*what)()) {
    loop_.cancel_timer(timer_);
    timer_ = loop_.after(delay, [this, what] { (this->*what)(); });
}

void Port::open() {
    fd_.reset(::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (!fd_) {
        log::debug("agent.port_not_opened", {{"path", path_.string()}, {"errno", errno}});
        later(kOpenRetry, &Port::open);
        return;
    }
    check();
}

// Waits until somebody is connected to the other end.
void Port::check() {
    pollfd entry{fd_.get(), POLLIN, 0};
    ::poll(&entry, 1, 0);
    if (entry.revents & (POLLHUP | POLLERR | POLLNVAL)) {
        later(kHangupCheck, &Port::check);
        return;
    }
    log::info("agent.port_connected");
    watch_ = loop_.watch(fd_.get(), POLLIN, [this](short revents) { on_io(revents); });
    events_.connected();
}

void Port::hang_up(bool reopen) {
    watch_.reset();
    queue_.clear();
    queued_ = written_ = 0;
    log::info("agent.port_hung_up");
    events_.disconnected();
    if (path_.empty()) return;
    if (reopen) {
        fd_.reset();
        later(kOpenRetry, &Port::open);
    } else {
        later(kHangupCheck, &Port::check);
    }
}

void Port::on_io(short revents) {
    if ((revents & POLLIN) && !read_some()) return;
    if (revents & (POLLHUP | POLLERR | POLLNVAL)) {
        hang_up((revents & (POLLERR | POLLNVAL)) != 0);
        return;
    }
    if (revents & POLLOUT) write_some();
}

bool Port::read_some() {
    std::array<char, 16384> buffer;
    for (int i = 0; i < kReadsAtOnce; ++i) {
        const auto got = ::read(fd_.get(), buffer.data(), buffer.size());
        if (got > 0) {
            events_.bytes({buffer.data(), static_cast<std::size_t>(got)});
            if (!watch_) return false;
            continue;
        }
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
        hang_up(got < 0);
        return false;
    }
    return true;
}

void Port::send(std::string bytes) {
    if (!watch_ || bytes.empty()) return;
    queued_ += bytes.size();
    queue_.push_back(std::move(bytes));
    if (queued_ > kMaxQueue) {
        log::warn("agent.host_reads_nothing");
        queue_.clear();
        queued_ = written_ = 0;
        return;
    }
    watch_.set_events(POLLIN | POLLOUT);
}

void Port::write_some() {
    while (!queue_.empty()) {
        const auto rest = std::string_view{queue_.front()}.substr(written_);
        const auto put = ::write(fd_.get(), rest.data(), rest.size());
        if (put < 0) {
            if (errno != EAGAIN && errno != EINTR) hang_up(true);
            return;
        }
        written_ += static_cast<std::size_t>(put);
        queued_ -= static_cast<std::size_t>(put);
        if (written_ < queue_.front().size()) continue;
        queue_.pop_front();
        written_ = 0;
    }
    watch_.set_events(POLLIN);
}

}  // namespace dormouse::agent

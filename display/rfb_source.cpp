// SPDX-License-Identifier: Apache-2.0
#include "display/rfb_source.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "display/rfb_client.h"
#include "hostd/base/log.h"

namespace dormouse::display {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;  // what poll() measures by

}  // namespace

// The frame thread and all that lives on it.
class RfbSource::Worker {
  public:
    // `control` is the same socket again: shut down, it ends every wait on it.
    Worker(UniqueFd socket, UniqueFd control, Framebuffer& framebuffer, RfbSourceOptions options)
        : socket_(std::move(socket)),
          control_(std::move(control)),
          options_(std::move(options)),
          framebuffer_(framebuffer) {}

    ~Worker() {
        stopping_ = true;
        ::shutdown(control_.get(), SHUT_RDWR);
        if (thread_.joinable()) thread_.join();
    }

    void start() {
        thread_ = std::thread{[this] { run(); }};
    }

    SourceStatus status() const {
        const std::lock_guard lock{mutex_};
        return status_;
    }

  private:
    void run() noexcept {
        // libvncclient writes without MSG_NOSIGNAL.
        sigset_t broken_pipe;
        ::sigemptyset(&broken_pipe);
        ::sigaddset(&broken_pipe, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
        // The kernel keeps 15 characters.
        pthread_setname_np(pthread_self(), ("frame-" + options_.id).substr(0, 15).c_str());
        Result<> outcome = fail(Errc::Internal, "the display thread failed");
        try {
            outcome = serve();
        } catch (const std::exception& e) {
            log::error("display.unexpected", {{"desktop", options_.id}, {"what", e.what()}});
        }
        Error reason = outcome || stopping_ ? Error{Errc::Unavailable, "the display was detached", {}, 0}
                                            : outcome.error();
        log::debug("display.ended", {{"desktop", options_.id}, {"reason", reason.message}});
        set_status({SourceState::Ended, std::move(reason)});
    }

    // Until told to stop or something breaks.
    Result<> serve() {
        RfbClient client{framebuffer_};
        const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
        DORMOUSE_TRY(client.connect(std::move(socket_)));
        auto next_message = std::chrono::steady_clock::now();
        bool live = false;
        while (!stopping_) {
            const auto now = std::chrono::steady_clock::now();
            if (!live && now >= deadline) return fail(Errc::Timeout, "QEMU did not show its display in time");
            if (now >= next_message) {
                DORMOUSE_TRY(client.send_keep_awake());
                next_message = now + options_.keep_awake;
            }
            if (!client.has_buffered()) {
                DORMOUSE_TRY_ASSIGN(const bool ready, wait(next_message - now));
                if (!ready) continue;
            }
            DORMOUSE_TRY_ASSIGN(const bool changed, client.handle_message());
            if (!live && client.has_picture()) {
                live = true;
                set_status({SourceState::Live, {}});
            } else if (changed) {
                notify();
            }
        }
        return {};
    }

    Result<bool> wait(std::chrono::steady_clock::duration longest) const {
        pollfd entry{control_.get(), POLLIN, 0};
        const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
        const int ready =
            ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(milliseconds, 0, 1000)));
        if (ready < 0 && errno != EINTR) return fail_errno("cannot wait for the display");
        return ready > 0;
    }

    void set_status(SourceStatus status) {
        {
            const std::lock_guard lock{mutex_};
            status_ = std::move(status);
        }
        notify();
    }

    void notify() const {
        if (options_.on_change) options_.on_change();
    }

    UniqueFd socket_;  // until the thread gives it to its client
    const UniqueFd control_;
    const RfbSourceOptions options_;
    Framebuffer& framebuffer_;
    std::atomic<bool> stopping_{false};
    mutable std::mutex mutex_;
    SourceStatus status_;  // guarded by mutex_
    std::thread thread_;
};

RfbSource::RfbSource(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
RfbSource::~RfbSource() = default;

Result<std::unique_ptr<RfbSource>> RfbSource::start(UniqueFd socket, Framebuffer& framebuffer,
                                                    RfbSourceOptions options) {
    if (!socket) return fail(Errc::InvalidArgument, "no socket for the display");
    UniqueFd control{::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0)};
    if (!control) return fail_errno("cannot duplicate the display's socket");
    auto worker =
        std::make_unique<Worker>(std::move(socket), std::move(control), framebuffer, std::move(options));
    try {
        worker->start();
    } catch (const std::system_error& e) {
        return fail(Errc::Unavailable, fmt::format("cannot start a display thread: {}", e.what()));
    }
    return std::unique_ptr<RfbSource>{new RfbSource{std::move(worker)}};
}

SourceStatus RfbSource::status() const {
    return worker_->status();
}

}  // namespace dormouse::display

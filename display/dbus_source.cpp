// SPDX-License-Identifier: Apache-2.0
#include "display/dbus_source.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "display/dbus_listener.h"
#include "hostd/base/log.h"

namespace dormouse::display {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;  // what poll() measures by

constexpr const char* kConsole = "org.qemu.Display1.Console";

// A picture of a new size usually follows the news of it at once.
constexpr auto kSizeGrace = std::chrono::milliseconds{100};

// QEMU 7.2 forgets its only listener when an earlier one vanishes after it came:
// so long after closing one QEMU's D-Bus thread has seen the end of it.
constexpr auto kVanishGrace = std::chrono::milliseconds{20};

// So many messages of one connection before the other and the stop flag get a look.
constexpr int kBatch = 16;

// A connection on which we authenticate as the client and there is no bus daemon.
Result<BusHandle> open_peer(UniqueFd socket, const char* description) {
    constexpr auto kDoing = "cannot open a display connection";
    sd_bus* raw = nullptr;
    DORMOUSE_TRY(check_bus(sd_bus_new(&raw), kDoing));
    BusHandle bus{raw};
    DORMOUSE_TRY(check_bus(sd_bus_set_description(raw, description), kDoing));
    DORMOUSE_TRY(check_bus(sd_bus_set_bus_client(raw, 0), kDoing));
    DORMOUSE_TRY(check_bus(sd_bus_negotiate_fds(raw, 1), kDoing));
    DORMOUSE_TRY(check_bus(sd_bus_set_fd(raw, socket.get(), socket.get()), kDoing));
    (void)socket.release();  // the bus closes it from here on
    DORMOUSE_TRY(check_bus(sd_bus_start(raw), kDoing));
    return bus;
}

// Handles what has arrived; true when more may be waiting.
Result<bool> drain(sd_bus* bus) {
    for (int i = 0; i < kBatch; ++i) {
        const int code = sd_bus_process(bus, nullptr);
        if (code < 0 || sd_bus_is_open(bus) <= 0)
            return fail(Errc::Interrupted,
                        fmt::format("QEMU closed the display connection ({})",
                                    code < 0 ? std::generic_category().message(-code) : "end of file"));
        if (code == 0) return false;
    }
    return true;
}

// Reads what PropertiesChanged says of the console's size into `size`; true when
// it says anything.
bool read_new_size(sd_bus_message* message, Size& size) {
    const char* interface = nullptr;
    if (sd_bus_message_has_signature(message, "sa{sv}as") <= 0) return false;
    if (sd_bus_message_read(message, "s", &interface) < 0 || std::string_view{interface} != kConsole)
        return false;
    if (sd_bus_message_enter_container(message, 'a', "{sv}") < 0) return false;
    bool told = false;
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        const char* name = nullptr;
        if (sd_bus_message_read(message, "s", &name) < 0) return told;
        const bool is_width = std::string_view{name} == "Width";
        std::uint32_t number = 0;
        if (!is_width && std::string_view{name} != "Height") {
            if (sd_bus_message_skip(message, "v") < 0) return told;
        } else if (sd_bus_message_read(message, "v", "u", &number) < 0 || number > kMaxSide) {
            return told;
        } else {
            (is_width ? size.width : size.height) = static_cast<int>(number);
            told = true;
        }
        sd_bus_message_exit_container(message);
    }
    return told;
}

Result<pollfd> poll_entry(sd_bus* bus) {
    const int events = sd_bus_get_events(bus);
    DORMOUSE_TRY(check_bus(events, "cannot wait for the display"));
    return pollfd{sd_bus_get_fd(bus), static_cast<short>(events), 0};
}

// When the bus itself wants to be called again (its time limits).
std::optional<SteadyTime> bus_deadline(sd_bus* bus) {
    std::uint64_t usec = 0;  // CLOCK_MONOTONIC, which is what steady_clock is
    if (sd_bus_get_timeout(bus, &usec) <= 0 || usec >= std::uint64_t{INT64_MAX} / 1000) return std::nullopt;
    return SteadyTime{std::chrono::microseconds{usec}};
}

}  // namespace

// The frame thread and all that lives on it.
class DbusSource::Worker {
  public:
    Worker(UniqueFd socket, UniqueFd wakeup, Framebuffer& framebuffer, DbusSourceOptions options)
        : socket_(std::move(socket)),
          wakeup_(std::move(wakeup)),
          options_(std::move(options)),
          console_path_(fmt::format("/org/qemu/Display1/Console_{}", options_.console)),
          framebuffer_(framebuffer),
          listener_(framebuffer, {[this] { set_live(); }, [this] { notify(); }}) {}

    ~Worker() {
        stopping_ = true;
        const std::uint64_t one = 1;
        (void)!::write(wakeup_.get(), &one, sizeof one);
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
        // The kernel keeps 15 characters.
        pthread_setname_np(pthread_self(), ("frame-" + options_.id).substr(0, 15).c_str());
        Result<> outcome = fail(Errc::Internal, "the display thread failed");
        try {
            outcome = serve();
        } catch (const std::exception& e) {
            log::error("display.unexpected", {{"desktop", options_.id}, {"what", e.what()}});
        }
        // On the thread that used them, and the listener before its bus.
        registration_.reset();
        size_watch_.reset();
        close_listener();
        console_bus_.reset();
        Error reason =
            outcome ? Error{Errc::Unavailable, "the display was detached", {}, 0} : outcome.error();
        log::debug("display.ended", {{"desktop", options_.id}, {"reason", reason.message}});
        set_status({SourceState::Ended, std::move(reason)});
    }

    // Until told to stop (success) or something breaks.
    Result<> serve() {
        DORMOUSE_TRY_ASSIGN(console_bus_, open_peer(std::move(socket_), "display-console"));
        DORMOUSE_TRY(watch_size());
        const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
        while (!stopping_) {
            DORMOUSE_TRY_ASSIGN(bool more, drain_listener());
            DORMOUSE_TRY_ASSIGN(const bool console_more, drain(console_bus_.get()));
            more = more || console_more;
            DORMOUSE_TRY(check_registration());
            const auto now = std::chrono::steady_clock::now();
            if (!live_ && now >= deadline)
                return fail(Errc::Timeout, "QEMU did not show its display in time");
            if (!more) restart_listener_if_stale(now);
            if (!listener_bus_ && !lost_ && now >= register_at_ && sd_bus_is_ready(console_bus_.get()) > 0)
                DORMOUSE_TRY(register_listener());
            if (!more) DORMOUSE_TRY(wait(next_deadline(deadline)));
        }
        return {};
    }

    // The listener's end may be noticed before the reply that says why.
    Result<bool> drain_listener() {
        if (!listener_bus_) return false;
        auto drained = drain(listener_bus_.get());
        if (drained || !awaiting_reply_) return drained;
        close_listener();
        lost_ = std::move(drained.error());
        return false;
    }

    Result<> check_registration() {
        DORMOUSE_TRY(registered_);
        if (lost_ && !awaiting_reply_) return fail(*lost_);
        return {};
    }

    void close_listener() {
        listener_.stop();
        listener_bus_.reset();
    }

    Result<> watch_size() {
        sd_bus_slot* slot = nullptr;
        DORMOUSE_TRY(check_bus(sd_bus_match_signal(console_bus_.get(), &slot, nullptr, console_path_.c_str(),
                                                   "org.freedesktop.DBus.Properties", "PropertiesChanged",
                                                   &Worker::on_properties, this),
                               "cannot watch the display's size"));
        size_watch_.reset(slot);
        return {};
    }

    static int on_properties(sd_bus_message* message, void* self, sd_bus_error* /*error*/) {
        auto& worker = *static_cast<Worker*>(self);
        if (worker.told_size_.empty()) worker.told_size_ = worker.framebuffer_.size();
        if (read_new_size(message, worker.told_size_))
            worker.size_due_ = std::chrono::steady_clock::now() + kSizeGrace;
        return 0;
    }

    // When a screen changes its size, QEMU sends a whole picture only if the
    // device happens to draw all of it next; text modes never do, and then the
    // parts that come belong to a screen we do not have. A new listener is
    // always sent the whole picture.
    void restart_listener_if_stale(SteadyTime now) {
        if (!size_due_ || now < *size_due_) return;
        size_due_.reset();
        if (!live_ || !listener_bus_ || awaiting_reply_ || told_size_ == framebuffer_.size()) return;
        log::debug("display.restarted", {{"desktop", options_.id}});
        close_listener();
        register_at_ = now + kVanishGrace;
    }

    std::optional<SteadyTime> next_deadline(SteadyTime first_picture) const {
        std::optional<SteadyTime> next;
        const auto consider = [&next](SteadyTime time) { next = next ? std::min(*next, time) : time; };
        if (!live_) consider(first_picture);
        if (size_due_) consider(*size_due_);
        if (!listener_bus_ && !lost_ && sd_bus_is_ready(console_bus_.get()) > 0) consider(register_at_);
        return next;
    }

    // Asks QEMU to connect to us. QEMU then does its side of the hand-shake on
    // its main loop before it does anything else, so our side must be there
    // first, and nothing here waits for the reply.
    Result<> register_listener() {
        constexpr auto kDoing = "cannot register a display listener";
        std::array<int, 2> ends{-1, -1};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
            return fail_errno("cannot make a socket pair");
        UniqueFd ours{ends[0]};
        const UniqueFd theirs{ends[1]};
        DORMOUSE_TRY_ASSIGN(listener_bus_, open_peer(std::move(ours), "display-listener"));
        DORMOUSE_TRY(listener_.serve(listener_bus_.get()));

        sd_bus_message* raw = nullptr;
        DORMOUSE_TRY(
            check_bus(sd_bus_message_new_method_call(console_bus_.get(), &raw, nullptr, console_path_.c_str(),
                                                     kConsole, "RegisterListener"),
                      kDoing));
        const BusMessage call{raw};
        DORMOUSE_TRY(check_bus(sd_bus_message_append(raw, "h", theirs.get()), kDoing));
        sd_bus_slot* slot = nullptr;
        const auto limit = std::chrono::duration_cast<std::chrono::microseconds>(options_.timeout);
        DORMOUSE_TRY(check_bus(sd_bus_call_async(console_bus_.get(), &slot, raw, &Worker::on_registered, this,
                                                 static_cast<std::uint64_t>(limit.count())),
                               kDoing));
        registration_.reset(slot);
        awaiting_reply_ = true;
        return {};
    }

    static int on_registered(sd_bus_message* reply, void* self, sd_bus_error* /*error*/) {
        auto& worker = *static_cast<Worker*>(self);
        worker.awaiting_reply_ = false;
        if (const auto* error = sd_bus_message_get_error(reply))
            worker.registered_ = fail(Errc::Unavailable,
                                      fmt::format("QEMU refused the display listener: {}",
                                                  error->message != nullptr ? error->message : error->name));
        return 0;
    }

    Result<> wait(std::optional<SteadyTime> until) const {
        std::array<pollfd, 3> entries{pollfd{wakeup_.get(), POLLIN, 0}};
        nfds_t count = 1;
        for (auto* bus : {console_bus_.get(), listener_bus_.get()}) {
            if (bus == nullptr) continue;
            DORMOUSE_TRY_ASSIGN(entries[count++], poll_entry(bus));
            if (const auto deadline = bus_deadline(bus))
                until = until ? std::min(*until, *deadline) : *deadline;
        }
        timespec longest{};
        if (until) {
            const auto left =
                std::max(*until - std::chrono::steady_clock::now(), std::chrono::nanoseconds{0});
            longest.tv_sec = static_cast<time_t>(left / std::chrono::seconds{1});
            longest.tv_nsec = static_cast<long>((left % std::chrono::seconds{1}).count());
        }
        if (::ppoll(entries.data(), count, until ? &longest : nullptr, nullptr) < 0 && errno != EINTR)
            return fail_errno("cannot wait for the display");
        return {};
    }

    void set_live() {
        if (std::exchange(live_, true)) return;
        set_status({SourceState::Live, {}});
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

    UniqueFd socket_;
    const UniqueFd wakeup_;
    const DbusSourceOptions options_;
    const std::string console_path_;
    Framebuffer& framebuffer_;
    std::atomic<bool> stopping_{false};
    mutable std::mutex mutex_;
    SourceStatus status_;  // guarded by mutex_
    // Below: on the frame thread only.
    BusHandle console_bus_;
    BusHandle listener_bus_;
    BusSlot registration_;
    BusSlot size_watch_;
    DbusListener listener_;
    Result<> registered_;
    bool awaiting_reply_ = false;         // to RegisterListener
    std::optional<Error> lost_;           // why the listener ended before that reply
    SteadyTime register_at_{};            // not before
    Size told_size_;                      // what QEMU says that the screen has
    std::optional<SteadyTime> size_due_;  // when a picture of that size must have come
    bool live_ = false;
    std::thread thread_;
};

DbusSource::DbusSource(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
DbusSource::~DbusSource() = default;

Result<std::unique_ptr<DbusSource>> DbusSource::start(UniqueFd socket, Framebuffer& framebuffer,
                                                      DbusSourceOptions options) {
    if (!socket) return fail(Errc::InvalidArgument, "no socket for the display");
    UniqueFd wakeup{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!wakeup) return fail_errno("cannot make an event descriptor");
    auto worker =
        std::make_unique<Worker>(std::move(socket), std::move(wakeup), framebuffer, std::move(options));
    try {
        worker->start();
    } catch (const std::system_error& e) {
        return fail(Errc::Unavailable, fmt::format("cannot start a display thread: {}", e.what()));
    }
    return std::unique_ptr<DbusSource>{new DbusSource{std::move(worker)}};
}

SourceStatus DbusSource::status() const {
    return worker_->status();
}

}  // namespace dormouse::display

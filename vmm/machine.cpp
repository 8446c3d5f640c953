// SPDX-License-Identifier: Apache-2.0
#include "vmm/machine.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "hostd/base/file.h"
#include "vmm/guest_channel.h"
#include "vmm/json_fields.h"
#include "vmm/keeper_link.h"

namespace dormouse::vmm {

using nlohmann::json;

namespace {

// The default of 128 MiB/s would make a full save of a desktop take seconds.
constexpr std::int64_t kUnlimitedBandwidth = std::int64_t{1} << 40;

// While QEMU loads a plain file it answers nothing, however long that takes.
constexpr auto kLoadingQuery = std::chrono::seconds{60};

// What a keeper may need beyond the grace for the exit record and the sockets.
constexpr auto kKeeperSlack = std::chrono::seconds{10};

// Made outside of the coroutines: GCC 12 cannot take a braced list inside one.
json arguments_of(const char* name, json value) {
    json arguments;
    arguments[name] = std::move(value);
    return arguments;
}
json display_client(DisplayProtocol protocol, const std::string& fd_name) {
    // Whoever has the descriptor is who it was made for: no password.
    if (protocol == DisplayProtocol::Vnc)
        return {{"protocol", "vnc"}, {"fdname", fd_name}, {"skipauth", true}};
    return {{"protocol", "@dbus-display"}, {"fdname", fd_name}};
}
json end_message(Duration grace) {
    return {{"type", "end"},
            {"grace_ms", std::chrono::duration_cast<std::chrono::milliseconds>(grace).count()}};
}

constexpr auto kFirstPoll = std::chrono::milliseconds{1};
constexpr auto kLongestPoll = std::chrono::milliseconds{20};

}  // namespace

Machine::Machine(EventLoop& loop, std::string id, std::filesystem::path run_folder)
    : loop_(loop), id_(std::move(id)), run_folder_(std::move(run_folder)) {}

Machine::~Machine() {
    disconnect();
}

Task<Result<json>> Machine::qmp(std::string command, json arguments, Duration timeout) {
    co_return co_await qmp_with_fd(std::move(command), std::move(arguments), UniqueFd{}, timeout);
}

Task<Result<json>> Machine::qmp_with_fd(std::string command, json arguments, UniqueFd fd, Duration timeout) {
    const auto self = shared_from_this();
    if (exit_ || announced_) co_return fail(gone_error());
    co_return co_await qmp_->execute_with_fd(std::move(command), std::move(arguments), std::move(fd),
                                             timeout);
}

Task<Result<>> Machine::simple(std::string command) {
    const auto answer = co_await qmp(std::move(command));
    if (!answer) co_return fail(answer.error());
    co_return Result<>{};
}

Task<Result<>> Machine::resume() {
    return simple("cont");
}

Task<Result<>> Machine::pause() {
    return simple("stop");
}

Task<Result<std::string>> Machine::run_state() {
    const auto answer = co_await qmp("query-status");
    if (!answer) co_return fail(answer.error());
    co_return text_field(*answer, "status");
}

Task<Result<std::string>> Machine::pass_fd(UniqueFd fd) {
    auto name = fmt::format("fd-{}-{}", ::getpid(), next_fd_++);
    const auto answer = co_await qmp_with_fd("getfd", arguments_of("fdname", name), std::move(fd));
    if (!answer) co_return fail(answer.error());
    co_return name;
}

Task<void> Machine::wait_change(Duration longest) {
    Completion<bool> changed{loop_};
    waiting_.push_back(changed);
    auto& loop = loop_;
    const auto timer = loop.after(longest, [changed]() mutable { changed.complete(false); });
    co_await changed;
    loop.cancel_timer(timer);
    std::erase_if(waiting_, [](const auto& waiter) { return waiter.done(); });
}

Task<Result<>> Machine::restore(UniqueFd state, Duration timeout) {
    const auto self = shared_from_this();
    auto name = co_await pass_fd(std::move(state));
    if (!name) co_return fail(name.error());
    const auto begun = co_await qmp("migrate-incoming", arguments_of("uri", "fd:" + *name), kLoadingQuery);
    auto result = Result<>{};
    if (begun)
        result = co_await wait_incoming(timeout);
    else
        result = fail(begun.error());
    if (!result && (announced_ || exit_))
        co_return fail(Errc::Corrupt, "QEMU did not take the memory image: " + gone_error().message);
    if (result) guest_->reset();
    co_return result;
}

Task<Result<>> Machine::wait_incoming(Duration timeout) {
    const auto deadline = loop_.clock().now() + timeout;
    Duration poll = kFirstPoll;
    while (loop_.clock().now() < deadline) {
        const auto status = co_await qmp("query-status", json::object(), kLoadingQuery);
        if (!status) co_return fail(status.error());
        if (text_field(*status, "status") != "inmigrate") co_return Result<>{};
        // From 9.1 on QEMU can be told to stay when the stream is bad.
        const auto migration = co_await qmp("query-migrate", json::object(), kLoadingQuery);
        if (migration && text_field(*migration, "status") == "failed")
            co_return fail(Errc::Corrupt,
                           "QEMU did not take the memory image: " + text_field(*migration, "error-desc"));
        co_await wait_change(poll);
        poll = std::min<Duration>(poll * 2, kLongestPoll);
    }
    co_return fail(Errc::Timeout, "QEMU did not load the memory image in time");
}

Task<Result<>> Machine::save_to(UniqueFd out, Duration timeout) {
    const auto self = shared_from_this();
    const auto raised =
        co_await qmp("migrate-set-parameters", arguments_of("max-bandwidth", kUnlimitedBandwidth));
    if (!raised) co_return fail(raised.error());
    auto name = co_await pass_fd(std::move(out));
    if (!name) co_return fail(name.error());
    const auto begun = co_await qmp("migrate", arguments_of("uri", "fd:" + *name));
    if (!begun) co_return fail(begun.error());
    co_return co_await wait_outgoing(timeout);
}

Task<Result<>> Machine::wait_outgoing(Duration timeout) {
    const auto deadline = loop_.clock().now() + timeout;
    Duration poll = kFirstPoll;
    while (loop_.clock().now() < deadline) {
        const auto answer = co_await qmp("query-migrate", json::object(), kLoadingQuery);
        if (!answer) co_return fail(answer.error());
        const auto status = text_field(*answer, "status");
        if (status == "completed") co_return Result<>{};
        if (status == "failed" || status == "cancelled")
            co_return fail(Errc::Io, fmt::format("QEMU could not save the memory ({}): {}", status,
                                                 text_field(*answer, "error-desc")));
        co_await wait_change(poll);
        poll = std::min<Duration>(poll * 2, kLongestPoll);
    }
    const auto cancelled = co_await qmp("migrate_cancel");
    co_return fail(Errc::Timeout,
                   cancelled ? "QEMU did not save the memory in time" : cancelled.error().message);
}

// Which protocol an adopted machine has, QEMU knows best. VNC second: without a
// VNC server QEMU 7.2 takes the descriptor and says nothing.
Task<Result<Machine::DisplayConnection>> Machine::open_display() {
    const auto self = shared_from_this();
    auto by_dbus = co_await open_display_by(DisplayProtocol::Dbus);
    if (by_dbus) co_return DisplayConnection{std::move(*by_dbus), DisplayProtocol::Dbus};
    if (!alive()) co_return fail(by_dbus.error());
    auto by_vnc = co_await open_display_by(DisplayProtocol::Vnc);
    if (!by_vnc) co_return fail(by_dbus.error());
    co_return DisplayConnection{std::move(*by_vnc), DisplayProtocol::Vnc};
}

Task<Result<UniqueFd>> Machine::open_display_by(DisplayProtocol protocol) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        co_return fail_errno("cannot make a socket pair");
    UniqueFd ours{ends[0]};
    UniqueFd theirs{ends[1]};
    auto name = co_await pass_fd(std::move(theirs));
    if (!name) co_return fail(name.error());
    const auto added = co_await qmp("add_client", display_client(protocol, *name));
    if (!added) co_return fail(added.error());
    co_return ours;
}

Task<Result<>> Machine::send_input(json events) {
    const auto answer = co_await qmp("input-send-event", arguments_of("events", std::move(events)));
    if (!answer) co_return fail(answer.error());
    co_return Result<>{};
}

void Machine::keep_netd_config(json config, NetdStart start) {
    if (!link_ || !link_->open()) return;
    link_->send_control(
        {{"type", "network"}, {"config", std::move(config)}, {"restart", start == NetdStart::Now}});
}

Task<Result<ExitRecord>> Machine::quit(Duration grace) {
    const auto self = shared_from_this();
    if (exit_) co_return *exit_;
    if (link_ && link_->open()) {
        link_->send_control(end_message(grace));
    } else if (!announced_ && !keeper_watch_) {
        co_return fail(gone_error());
    }
    const auto deadline = loop_.clock().now() + grace + kKeeperSlack;
    while (!exit_ && !disconnected_ && loop_.clock().now() < deadline)
        co_await wait_change(deadline - loop_.clock().now());
    if (exit_) co_return *exit_;
    if (disconnected_) co_return fail(Errc::Interrupted, "the connection to the desktop was given up");
    // The keeper itself does not answer: end it, QEMU goes with it.
    if (keeper_pidfd_) ::syscall(SYS_pidfd_send_signal, keeper_pidfd_.get(), SIGKILL, nullptr, 0);
    for (const auto last = loop_.clock().now() + kKeeperSlack; !exit_ && loop_.clock().now() < last;)
        co_await wait_change(last - loop_.clock().now());
    if (exit_) co_return *exit_;
    co_return fail(Errc::Timeout, fmt::format("the processes of desktop {} do not end", id_));
}

Result<ExitRecord> read_exit_record(const std::filesystem::path& desktop_folder) {
    DORMOUSE_TRY_ASSIGN(const auto text, read_file(exit_file(desktop_folder), 1 << 20));
    return parse_exit_record(parse_json(text));
}

}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "hostd/base/file.h"
#include "hostd/cli/doctor.h"

namespace dormouse::cli::doctor {

namespace {

bool lock_is_held(const Config& config) {
    std::error_code error;
    if (!std::filesystem::exists(config.daemon_lock(), error)) return false;
    const auto lock = lock_file(config.daemon_lock());
    return !lock && lock.error().code == Errc::Conflict;
}

// What keeps a daemon from listening there: an errno, 0 when nothing does.
int why_not_listen(const Config& config) {
    const addrinfo wanted{.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    addrinfo* found = nullptr;
    const auto port = std::to_string(config.listen_port);
    if (::getaddrinfo(config.listen_address.c_str(), port.c_str(), &wanted, &found) != 0)
        return EADDRNOTAVAIL;
    const UniqueFd fd{::socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0)};
    // As servers do: what is left of closed connections is in nobody's way.
    const int yes = 1;
    int why = 0;
    if (!fd || ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd.get(), 1) != 0)
        why = errno;
    ::freeaddrinfo(found);
    return why;
}

}  // namespace

DaemonView look_at_daemon(Context& context) {
    DaemonView view{.version = fail(Errc::Unavailable, "no daemon answers"),
                    .desktops = fail(Errc::Unavailable, "no daemon answers")};
    view.answers = context.client().health().has_value();
    view.lock_held = context.connection().is_local && lock_is_held(context.config());
    view.folders = desktop_folders(context.config());
    if (view.answers) {
        view.version = context.client().version();
        view.desktops = context.client().list_desktops();
    }
    return view;
}

Finding check_daemon(const Context& context, const DaemonView& daemon) {
    const auto& connection = context.connection();
    const auto log = connection.config.daemon_log().string();
    if (!daemon.answers) {
        if (!connection.is_local)
            return {"daemon", Level::Fail, fmt::format("nobody answers at {}", connection.url),
                    "is DORMOUSE_URL right?"};
        if (daemon.lock_held)
            return {"daemon", Level::Fail, fmt::format("runs, but does not answer at {}", connection.url),
                    "it may still be starting; its log: " + log};
        return {"daemon", Level::Warn, "not running", "start it: ./dormouse up"};
    }
    if (connection.is_local && !daemon.lock_held)
        return {"daemon", Level::Fail,
                fmt::format("the one at {} is of another state folder", connection.url),
                "set DORMOUSE_LISTEN to a port of your own, such as 127.0.0.1:8761"};
    if (!daemon.version) {
        const auto why = connection.token ? daemon.version.error().message : connection.no_token;
        return {"daemon", Level::Fail, "it does not let us in: " + why,
                "set DORMOUSE_TOKEN, or run as the user who started it"};
    }
    if (daemon.version->version != DORMOUSE_VERSION)
        return {"daemon", Level::Warn,
                fmt::format("version {}, but this program is {}", daemon.version->version, DORMOUSE_VERSION),
                fmt::format("{}, then ./dormouse up; desktops are kept", context.command("down"))};
    return {
        "daemon", Level::Ok, fmt::format("version {} at {}", daemon.version->version, connection.url), {}};
}

Finding check_port(const Config& config, const DaemonView& daemon) {
    const auto place = fmt::format("{}:{}", config.listen_address, config.listen_port);
    const std::string other = "set another one: DORMOUSE_LISTEN=127.0.0.1:8761";
    // Whose daemon it is that answers is not this check's question.
    if (daemon.answers) return {"port", Level::Ok, place + " answers", {}};
    const int why = why_not_listen(config);
    if (why == 0) return {"port", Level::Ok, place + " is free", {}};
    if (why == EADDRINUSE && daemon.lock_held)
        return {"port", Level::Warn, place + " is taken, by the daemon it seems", {}};
    if (why == EADDRINUSE) return {"port", Level::Fail, place + " is used by something else", other};
    return {"port", Level::Fail, fail_errno(place, why).value().message, other};
}

Finding check_accelerator(const DaemonView& daemon) {
    const std::string check = "accelerator";
    if (daemon.version) {
        const auto text =
            fmt::format("{}: {}", daemon.version->accelerator, daemon.version->accelerator_reason);
        if (daemon.version->accelerator == "kvm") return {check, Level::Ok, text, {}};
        return {check, Level::Warn, text, "all works, but several times slower than on a machine with KVM"};
    }
    if (::access("/dev/kvm", R_OK | W_OK) == 0)
        return {check, Level::Ok, "/dev/kvm can be opened; the daemon tries it out when it starts", {}};
    return {check, Level::Warn, "no KVM: /dev/kvm cannot be opened",
            "all works, but several times slower than with it"};
}

}  // namespace dormouse::cli::doctor

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "hostd/cli/doctor.h"

namespace dormouse::cli::doctor {

namespace fs = std::filesystem;

DaemonView look_at_daemon(Context& context, HostView& host) {
    DaemonView view{.version = fail(Errc::Unavailable, "no daemon answers"),
                    .desktops = fail(Errc::Unavailable, "no daemon answers")};
    view.answers = context.client().health().has_value();
    view.lock_held = context.connection().is_local && host.is_locked(context.config().daemon_lock());
    view.folders = desktop_folders(host, context.config());
    if (view.lock_held) view.processes = host.processes();
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

Finding check_port(HostView& host, const Config& config, const DaemonView& daemon) {
    const auto place = fmt::format("{}:{}", config.listen_address, config.listen_port);
    const std::string other = "set another one: DORMOUSE_LISTEN=127.0.0.1:8761";
    // Whose daemon it is that answers is not this check's question.
    if (daemon.answers) return {"port", Level::Ok, place + " answers", {}};
    const int why = host.why_not_listen(config);
    if (why == 0) return {"port", Level::Ok, place + " is free", {}};
    if (why == EADDRINUSE && daemon.lock_held)
        return {"port", Level::Warn, place + " is taken, by the daemon it seems",
                "it does not answer: see what its log says, " + config.daemon_log().string()};
    if (why == EADDRINUSE) return {"port", Level::Fail, place + " is used by something else", other};
    return {"port", Level::Fail, fail_errno(place, why).value().message, other};
}

Finding check_accelerator(HostView& host, const DaemonView& daemon) {
    const std::string check = "accelerator";
    if (daemon.version) {
        const auto text =
            fmt::format("{}: {}", daemon.version->accelerator, daemon.version->accelerator_reason);
        if (daemon.version->accelerator == "kvm") return {check, Level::Ok, text, {}};
        return {check, Level::Warn, text, "all works, but several times slower than on a machine with KVM"};
    }
    if (host.may_open("/dev/kvm"))
        return {check, Level::Ok, "/dev/kvm can be opened; the daemon tries it out when it starts", {}};
    return {check, Level::Warn, "no KVM: /dev/kvm cannot be opened",
            "all works, but several times slower than with it"};
}

// Other things lie there too, such as a bake's folder.
std::vector<std::string> desktop_folders(HostView& host, const Config& config) {
    std::vector<std::string> all;
    for (const auto& root : {config.desktops(), config.run})
        for (const auto& entry : host.list(root))
            if (entry.filename().string().starts_with("d-")) all.push_back(entry.string());
    return all;
}

namespace {

bool is_known(const DaemonView& daemon, std::string_view id) {
    const auto& known = daemon.desktops->desktops;
    return std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.id == id; });
}

// The desktop whose folder or sockets a command line names: "d-1a2b3c4d5e" of
// ".../desktops/d-1a2b3c4d5e/...". Empty when it is none of ours.
std::string desktop_in(const std::string& command, const Config& config) {
    for (const auto& root : {config.run, config.desktops()}) {
        const auto start = root.string() + "/d-";
        const auto at = command.find(start);
        if (at == std::string::npos) continue;
        const auto begin = at + start.size() - 2;
        return command.substr(begin, command.find_first_of("/ ,", begin) - begin);
    }
    return {};
}

}  // namespace

// Files, sockets and processes of desktops that the daemon does not know.
Finding check_leftovers(HostView& host, const Context& context, const DaemonView& daemon) {
    const std::string check = "leftovers";
    if (!daemon.desktops || !daemon.lock_held)
        return {check, Level::Ok, "not looked for: only the daemon knows what belongs to a desktop", {}};
    std::string left;
    const auto add = [&](const std::string& what) {
        left += fmt::format("{}{}", left.empty() ? "" : ", ", what);
    };
    for (const auto& folder : daemon.folders)
        // It may have been deleted since we looked.
        if (!is_known(daemon, fs::path{folder}.filename().string()) && host.look(folder)) add(folder);
    const auto now = host.processes();
    for (const auto& process : daemon.processes) {
        const auto id = desktop_in(process.command, context.config());
        const bool is_there = std::any_of(now.begin(), now.end(), [&](const auto& one) {
            return one.pid == process.pid && one.command == process.command;
        });
        if (!id.empty() && !is_known(daemon, id) && is_there)
            add(fmt::format("process {} ({})", process.pid, id));
    }
    if (left.empty()) return {check, Level::Ok, "none", {}};
    return {check, Level::Warn, "of no desktop: " + left,
            fmt::format("the daemon removes them when it starts: {}, then ./dormouse up",
                        context.command("down"))};
}

}  // namespace dormouse::cli::doctor

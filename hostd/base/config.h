// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hostd/base/result.h"

namespace dormouse {

// Where pictures of desktops come from.
enum class DisplaySource {
    Auto,  // QEMU's D-Bus display, or its VNC server where it has none
    Dbus,
    Vnc,
};

// What callers may cost this host: [limits] in config.toml.
struct LimitsConfig {
    double requests_per_second = 1000;  // of each token, on average; 0: no limit
    int burst = 2000;                   // of each token, at once
    int concurrent = 64;                // requests of each token in progress; 0: no limit
    int event_streams = 200;            // of all tokens
    int event_streams_per_token = 32;
    int desktops = 0;            // on this host; 0: no limit, as in what follows
    int desktops_per_token = 0;  // that a token has made and that are there
};

// How much of the audit log is kept: [audit] in config.toml.
struct AuditConfig {
    int days = 90;
    std::int64_t rows = 1'000'000;
};

// Where everything is. Made once, from the environment and config.toml.
struct Config {
    std::filesystem::path home;       // state: /var/lib/dormouse, ~/.local/share/dormouse or DORMOUSE_HOME
    std::filesystem::path run;        // sockets; short, since a socket path has at most 107 bytes
    std::filesystem::path templates;  // baked templates: home/templates or DORMOUSE_TEMPLATES
    std::string listen_address = "127.0.0.1";
    std::uint16_t listen_port = 8760;
    DisplaySource display_source = DisplaySource::Auto;  // of machines that are started from now on
    LimitsConfig limits;
    AuditConfig audit;
    // What desktops may reach besides the internet: "10.1.2.3:8080", each exactly.
    std::vector<std::string> network_allow;
    std::string network_dns;  // the DNS server that answers desktops, "10.0.0.53:53"; empty: the host's own

    std::filesystem::path database() const { return home / "dormouse.db"; }
    std::filesystem::path desktops() const { return home / "desktops"; }
    std::filesystem::path admin_token() const { return home / "admin.token"; }
    std::filesystem::path daemon_lock() const { return home / "daemon.lock"; }
    // Where the daemon that runs listens; written once it does, removed when it ends.
    std::filesystem::path daemon_url() const { return home / "daemon.url"; }
    std::filesystem::path daemon_log() const { return home / "daemon.log"; }
    std::filesystem::path file() const { return home / "config.toml"; }
    std::string url() const;
};

// Reads DORMOUSE_HOME, DORMOUSE_TEMPLATES, DORMOUSE_LISTEN (address:port),
// DORMOUSE_DISPLAY_SOURCE (auto, dbus or vnc), DORMOUSE_NETWORK_ALLOW (with commas
// between) and DORMOUSE_DNS_SERVER, and home/config.toml (`listen = "address:port"`,
// `[display] source = "auto"`, [limits], [audit], and in [network]
// `allow = ["address:port"]` and `dns = "address:port"`; the environment wins).
// Unknown keys are errors. Makes nothing on disk.
Result<Config> load_config();

// "127.0.0.1:8760" or "[::1]:8760".
Result<> parse_listen(const std::string& text, Config& config);

// "auto", "dbus" or "vnc".
Result<DisplaySource> parse_display_source(const std::string& text);

}  // namespace dormouse

// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/config.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <vector>

#include "hostd/base/file.h"
#include "hostd/base/toml.h"

namespace dormouse {

namespace fs = std::filesystem;

namespace {

std::string environment(const char* name) {
    const char* value = ::getenv(name);
    return value ? value : "";
}

// FNV-1a: tells run folders of different state folders apart, nothing more.
std::uint64_t short_hash(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

fs::path run_folder(const fs::path& home) {
    const auto name = fmt::format("dormouse-{:08x}", short_hash(home.string()) & 0xffffffff);
    if (::geteuid() == 0) return fs::path{"/run"} / name;
    const auto xdg = environment("XDG_RUNTIME_DIR");
    std::error_code ignored;
    if (!xdg.empty() && xdg.size() < 40 && fs::is_directory(xdg, ignored)) return fs::path{xdg} / name;
    return fs::path{"/tmp"} / fmt::format("{}-{}", name, ::geteuid());
}

}  // namespace

std::string Config::url() const {
    const bool v6 = listen_address.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", listen_address, v6 ? "]" : "", listen_port);
}

Result<> parse_listen(const std::string& text, Config& config) {
    const auto bad = [&] {
        return fail(Errc::InvalidArgument, fmt::format("'{}' is not an address to listen on", text),
                    "write address:port, for example 127.0.0.1:8760");
    };
    const auto colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) return bad();
    auto address = text.substr(0, colon);
    if (address.front() == '[' && address.back() == ']') address = address.substr(1, address.size() - 2);
    unsigned port = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (parsed.ec != std::errc{} || parsed.ptr != end || port == 0 || port > 65535 || address.empty())
        return bad();
    config.listen_address = address;
    config.listen_port = static_cast<std::uint16_t>(port);
    return {};
}

Result<DisplaySource> parse_display_source(const std::string& text) {
    if (text == "auto") return DisplaySource::Auto;
    if (text == "dbus") return DisplaySource::Dbus;
    if (text == "vnc") return DisplaySource::Vnc;
    return fail(Errc::InvalidArgument, fmt::format("'{}' is not where pictures can come from", text),
                "write auto, dbus or vnc");
}

namespace {

// A number of config.toml, where it goes and what it may be.
struct NumberSetting {
    std::string_view table;
    std::string_view name;
    double least;
    double most;
    std::function<void(Config&, double)> set;
};

const std::vector<NumberSetting>& number_settings() {
    static const std::vector<NumberSetting> all{
        {"limits", "requests_per_second", 0, 1e6,
         [](auto& c, double v) { c.limits.requests_per_second = v; }},
        {"limits", "burst", 1, 1e6, [](auto& c, double v) { c.limits.burst = static_cast<int>(v); }},
        {"limits", "concurrent", 0, 1e6,
         [](auto& c, double v) { c.limits.concurrent = static_cast<int>(v); }},
        {"limits", "event_streams", 0, 400,
         [](auto& c, double v) { c.limits.event_streams = static_cast<int>(v); }},
        {"limits", "event_streams_per_token", 0, 400,
         [](auto& c, double v) { c.limits.event_streams_per_token = static_cast<int>(v); }},
        {"limits", "desktops", 0, 1e6, [](auto& c, double v) { c.limits.desktops = static_cast<int>(v); }},
        {"limits", "desktops_per_token", 0, 1e6,
         [](auto& c, double v) { c.limits.desktops_per_token = static_cast<int>(v); }},
        {"audit", "days", 1, 36'500, [](auto& c, double v) { c.audit.days = static_cast<int>(v); }},
        {"audit", "rows", 1000, 1e9, [](auto& c, double v) { c.audit.rows = static_cast<std::int64_t>(v); }},
    };
    return all;
}

std::string known_settings() {
    std::string text =
        "settings: listen = \"address:port\", display.source = \"auto\", \"dbus\" or \"vnc\", network.allow "
        "= [\"address:port\"], network.dns = \"address:port\"";
    for (const auto& one : number_settings()) text += fmt::format(", {}.{}", one.table, one.name);
    return text;
}

tl::unexpected<Error> no_setting(std::string_view name) {
    return fail(Errc::InvalidArgument, fmt::format("'{}' is not a setting, or not of the right type", name),
                known_settings());
}

Result<> read_number(const std::string& table, const std::string& name, const toml::node& value,
                     Config& config) {
    for (const auto& one : number_settings()) {
        if (one.table != table || one.name != name) continue;
        const auto number = value.value<double>();
        if (!number) return no_setting(table + "." + name);
        if (*number < one.least || *number > one.most)
            return fail(Errc::InvalidArgument,
                        fmt::format("{}.{} must be from {} to {}", table, name, one.least, one.most));
        one.set(config, *number);
        return {};
    }
    return no_setting(table + "." + name);
}

Result<> read_display_settings(const toml::table& table, Config& config) {
    for (const auto& [key, value] : table) {
        if (key.str() != "source" || !value.is_string())
            return no_setting(fmt::format("display.{}", key.str()));
        DORMOUSE_TRY_ASSIGN(config.display_source, parse_display_source(value.as_string()->get()));
    }
    return {};
}

Result<> read_network_settings(const toml::table& table, Config& config) {
    const auto wrong = [](std::string_view key) { return no_setting(fmt::format("network.{}", key)); };
    for (const auto& [key, value] : table) {
        if (key.str() == "allow" && value.is_array()) {
            for (const auto& one : *value.as_array()) {
                if (!one.is_string()) return wrong("allow");
                config.network_allow.push_back(one.as_string()->get());
            }
        } else if (key.str() == "dns" && value.is_string()) {
            config.network_dns = value.as_string()->get();
        } else {
            return wrong(key.str());
        }
    }
    return {};
}

void read_network_environment(Config& config) {
    if (const auto allow = environment("DORMOUSE_NETWORK_ALLOW"); !allow.empty()) {
        config.network_allow.clear();
        for (std::size_t at = 0; at <= allow.size();) {
            const auto end = std::min(allow.find(',', at), allow.size());
            if (end > at) config.network_allow.push_back(allow.substr(at, end - at));
            at = end + 1;
        }
    }
    if (auto dns = environment("DORMOUSE_DNS_SERVER"); !dns.empty()) config.network_dns = std::move(dns);
}

Result<> read_settings(const std::string& text, Config& config) {
    try {
        for (const auto& [key, value] : toml::parse(text)) {
            const std::string name{key.str()};
            if (name == "listen" && value.is_string()) {
                DORMOUSE_TRY(parse_listen(value.as_string()->get(), config));
                continue;
            }
            if (!value.is_table()) return no_setting(name);
            if (name == "display") {
                DORMOUSE_TRY(read_display_settings(*value.as_table(), config));
                continue;
            }
            if (name == "network") {
                DORMOUSE_TRY(read_network_settings(*value.as_table(), config));
                continue;
            }
            for (const auto& [inner, setting] : *value.as_table())
                DORMOUSE_TRY(read_number(name, std::string{inner.str()}, setting, config));
        }
    } catch (const toml::parse_error& error) {
        return fail(Errc::InvalidArgument,
                    fmt::format("line {}: {}", error.source().begin.line, std::string{error.description()}));
    } catch (const std::runtime_error& error) {
        return fail(Errc::InvalidArgument, error.what());
    }
    return {};
}

}  // namespace

Result<Config> load_config() {
    Config config;
    if (const auto home = environment("DORMOUSE_HOME"); !home.empty()) {
        config.home = fs::absolute(home).lexically_normal();
    } else if (::geteuid() == 0) {
        config.home = "/var/lib/dormouse";
    } else if (const auto user_home = environment("HOME"); !user_home.empty()) {
        config.home = fs::path{user_home} / ".local/share/dormouse";
    } else {
        return fail(Errc::InvalidArgument, "neither DORMOUSE_HOME nor HOME is set",
                    "set DORMOUSE_HOME to a folder");
    }
    config.run = run_folder(config.home);
    const auto templates = environment("DORMOUSE_TEMPLATES");
    config.templates =
        templates.empty() ? config.home / "templates" : fs::absolute(templates).lexically_normal();

    std::error_code ignored;
    if (fs::exists(config.file(), ignored)) {
        DORMOUSE_TRY_ASSIGN(const auto text, read_file(config.file(), 1 << 20));
        if (auto read = read_settings(text, config); !read)
            return fail_in(config.file().string(), read.error());
    }
    if (const auto listen = environment("DORMOUSE_LISTEN"); !listen.empty())
        DORMOUSE_TRY(parse_listen(listen, config));
    if (const auto source = environment("DORMOUSE_DISPLAY_SOURCE"); !source.empty()) {
        DORMOUSE_TRY_ASSIGN(config.display_source, parse_display_source(source));
    }
    read_network_environment(config);
    return config;
}

}  // namespace dormouse

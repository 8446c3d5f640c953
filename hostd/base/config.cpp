// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/config.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>

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

tl::unexpected<Error> bad_setting(const Config& config, std::string_view name) {
    return fail(
        Errc::InvalidArgument,
        fmt::format("{}: '{}' is not a setting, or not of the right type", config.file().string(), name),
        "settings: listen = \"address:port\", and source = \"auto\", \"dbus\" or \"vnc\" in [display]");
}

Result<> read_display_settings(const toml::table& table, Config& config) {
    for (const auto& [key, value] : table) {
        if (key.str() != "source" || !value.is_string())
            return bad_setting(config, fmt::format("display.{}", key.str()));
        DORMOUSE_TRY_ASSIGN(config.display_source, parse_display_source(value.as_string()->get()));
    }
    return {};
}

Result<> read_settings(const toml::table& table, Config& config) {
    for (const auto& [key, value] : table) {
        if (key.str() == "listen" && value.is_string()) {
            DORMOUSE_TRY(parse_listen(value.as_string()->get(), config));
        } else if (key.str() == "display" && value.is_table()) {
            DORMOUSE_TRY(read_display_settings(*value.as_table(), config));
        } else {
            return bad_setting(config, key.str());
        }
    }
    return {};
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
        try {
            const auto table = toml::parse(text);
            DORMOUSE_TRY(read_settings(table, config));
        } catch (const toml::parse_error& error) {
            return fail(Errc::InvalidArgument,
                        fmt::format("{}: line {}: {}", config.file().string(), error.source().begin.line,
                                    std::string{error.description()}));
        } catch (const std::runtime_error& error) {
            return fail(Errc::InvalidArgument, fmt::format("{}: {}", config.file().string(), error.what()));
        }
    }
    if (const auto listen = environment("DORMOUSE_LISTEN"); !listen.empty())
        DORMOUSE_TRY(parse_listen(listen, config));
    if (const auto source = environment("DORMOUSE_DISPLAY_SOURCE"); !source.empty()) {
        DORMOUSE_TRY_ASSIGN(config.display_source, parse_display_source(source));
    }
    return config;
}

}  // namespace dormouse

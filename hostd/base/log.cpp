// SPDX-License-Identifier: Apache-2.0
#include "hostd/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace dormouse::log {

namespace {

spdlog::logger& logger() {
    // Made on first use so that a program which never logs opens nothing.
    static const auto instance = [] {
        auto made =
            std::make_shared<spdlog::logger>("dormouse", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
        made->flush_on(spdlog::level::info);
        return made;
    }();
    return *instance;
}

spdlog::level::level_enum to_spdlog(Level level) {
    switch (level) {
        case Level::Debug:
            return spdlog::level::debug;
        case Level::Info:
            return spdlog::level::info;
        case Level::Warn:
            return spdlog::level::warn;
        case Level::Error:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

bool plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"-_.:/+@%,"}.find(c) != std::string_view::npos;
}

void append_value(std::string& line, std::string_view value) {
    if (!value.empty() && std::all_of(value.begin(), value.end(), plain)) {
        line += value;
        return;
    }
    line += '"';
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            line += '\\';
            line += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            line += fmt::format("\\x{:02x}", byte);
        } else {
            line += c;
        }
    }
    line += '"';
}

}  // namespace

void set_level(Level level) {
    logger().set_level(to_spdlog(level));
}

std::string format_line(std::string_view name, Fields fields) {
    std::string line{name};
    for (const auto& field : fields) {
        line += ' ';
        line += field.name;
        line += '=';
        append_value(line, field.value);
    }
    return line;
}

void event(Level level, std::string_view name, Fields fields) {
    const auto wanted = to_spdlog(level);
    if (!logger().should_log(wanted)) return;
    logger().log(wanted, "{}", format_line(name, fields));
}

}  // namespace dormouse::log

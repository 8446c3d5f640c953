// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace dormouse::log {

// One named value of an event. Anything fmt can format; never a Secret.
struct Field {
    template <class T>
    Field(std::string_view field_name, const T& field_value)
        : name(field_name), value(fmt::format("{}", field_value)) {}
    std::string_view name;
    std::string value;
};
using Fields = std::initializer_list<Field>;

enum class Level { Debug, Info, Warn, Error };

// Events go to standard error, one line each: time level event name=value...
// Values are quoted and escaped where they are not plain words, so that what a
// guest or a client sends cannot forge a line. May be called from any thread.
void set_level(Level level);
void event(Level level, std::string_view name, Fields fields);

inline void debug(std::string_view name, Fields fields = {}) {
    event(Level::Debug, name, fields);
}
inline void info(std::string_view name, Fields fields = {}) {
    event(Level::Info, name, fields);
}
inline void warn(std::string_view name, Fields fields = {}) {
    event(Level::Warn, name, fields);
}
inline void error(std::string_view name, Fields fields = {}) {
    event(Level::Error, name, fields);
}

// The line that event() would write, without time and level.
std::string format_line(std::string_view name, Fields fields);

}  // namespace dormouse::log

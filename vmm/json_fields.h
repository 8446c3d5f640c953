// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

// Reading JSON that another process wrote: what is missing or of the wrong
// type gives the fallback instead of an exception.
namespace dormouse::vmm {

inline const nlohmann::json& field(const nlohmann::json& object, const char* key) {
    static const nlohmann::json none;
    if (!object.is_object()) return none;
    const auto found = object.find(key);
    return found == object.end() ? none : *found;
}
inline std::string text_field(const nlohmann::json& object, const char* key) {
    const auto& value = field(object, key);
    return value.is_string() ? value.get<std::string>() : std::string{};
}
inline std::int64_t int_field(const nlohmann::json& object, const char* key, std::int64_t fallback = 0) {
    const auto& value = field(object, key);
    return value.is_number_integer() ? value.get<std::int64_t>() : fallback;
}
inline bool bool_field(const nlohmann::json& object, const char* key, bool fallback = false) {
    const auto& value = field(object, key);
    return value.is_boolean() ? value.get<bool>() : fallback;
}
// Gives a discarded value instead of throwing; check is_discarded().
inline nlohmann::json parse_json(std::string_view text) {
    return nlohmann::json::parse(text, nullptr, false);
}

// Never throws, whatever bytes are in the strings: what is not UTF-8 is replaced.
inline std::string dump_json(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace dormouse::vmm

// SPDX-License-Identifier: Apache-2.0
#include "guest/agent/params.h"

namespace dormouse::agent {

Result<std::string> Params::text(const char* name, std::size_t limit) {
    const auto* value = take(name);
    if (!value || !value->is_string()) return wrong(name, "a text");
    auto result = value->get<std::string>();
    if (result.size() > limit)
        return fail(Errc::TooLarge, fmt::format("\"{}\" is longer than {} bytes", name, limit));
    return result;
}

Result<std::int64_t> Params::integer(const char* name, std::int64_t low, std::int64_t high) {
    const auto* value = take(name);
    if (!value || !value->is_number_integer()) return wrong(name, "an integer");
    const bool huge = value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX;
    if (huge || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high)
        return fail(Errc::InvalidArgument, fmt::format("\"{}\" must be from {} to {}", name, low, high));
    return value->get<std::int64_t>();
}

const nlohmann::json* Params::take(const char* name) {
    taken_.insert(name);
    const auto found = body_.find(name);
    return found == body_.end() ? nullptr : &*found;
}

Result<> Params::done() const {
    for (const auto& [name, value] : body_.items()) {
        if (taken_.count(name) == 0)
            return fail(Errc::InvalidArgument, fmt::format("unknown field \"{}\"", name.substr(0, 64)));
    }
    return {};
}

}  // namespace dormouse::agent

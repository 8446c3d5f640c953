// SPDX-License-Identifier: Apache-2.0
#include "guest/protocol/messages.h"

#include <algorithm>
#include <array>

namespace dormouse::guest {

namespace {

using nlohmann::json;

// Deep nesting costs stack wherever JSON is written or copied, so it is refused
// before anything is built from it.
bool too_deep(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kMaxJsonDepth) return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

Result<std::string> text_field(const json& body, const char* name, std::size_t limit) {
    const auto found = body.find(name);
    if (found == body.end() || !found->is_string())
        return fail(Errc::Corrupt, fmt::format("no text \"{}\"", name));
    auto text = found->get<std::string>();
    if (text.size() > limit) return fail(Errc::Corrupt, fmt::format("\"{}\" is too long", name));
    return text;
}

Result<std::int64_t> integer_field(const json& body, const char* name) {
    const auto found = body.find(name);
    if (found == body.end() || !found->is_number_integer()) {
        return fail(Errc::Corrupt, fmt::format("no integer \"{}\"", name));
    }
    if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) {
        return fail(Errc::Corrupt, fmt::format("\"{}\" is too large", name));
    }
    return found->get<std::int64_t>();
}

constexpr std::size_t kMaxName = 128;
constexpr std::size_t kMaxErrorMessage = 500;

Errc code_named(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(Errc::Internal); ++i) {
        if (errc_name(static_cast<Errc>(i)) == name) return static_cast<Errc>(i);
    }
    return Errc::Internal;
}

std::string printable(std::string text) {
    if (text.size() > kMaxErrorMessage) {
        text.resize(kMaxErrorMessage);
        // Not in the middle of a character: what follows must be UTF-8 too.
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
        if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0x80) text.pop_back();
    }
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return text;
}

}  // namespace

bool is_idempotent(std::string_view method_name) {
    constexpr std::array names{method::kPing,       method::kStatus,       method::kSetTime,
                               method::kScreenSize, method::kClipboardGet, method::kClipboardSet,
                               method::kPointer,    method::kQuiesce};
    return std::find(names.begin(), names.end(), method_name) != names.end();
}

bool HelloInfo::knows(std::string_view method_name) const {
    return std::find(methods.begin(), methods.end(), method_name) != methods.end();
}

json to_json(const HostHello& hello) {
    return {{"host_version", hello.host_version}, {"time_unix_ns", hello.time_unix_ns}};
}

json to_json(const HelloInfo& info) {
    return {{"agent_version", info.agent_version},
            {"boot_id", info.boot_id},
            {"time_unix_ns", info.time_unix_ns},
            {"methods", info.methods}};
}

Result<HostHello> parse_host_hello(const json& body) {
    if (!body.is_object()) return fail(Errc::Corrupt, "the hello is not an object");
    HostHello hello;
    DORMOUSE_TRY_ASSIGN(hello.host_version, text_field(body, "host_version", kMaxName));
    DORMOUSE_TRY_ASSIGN(hello.time_unix_ns, integer_field(body, "time_unix_ns"));
    return hello;
}

Result<HelloInfo> parse_hello_info(const json& body) {
    if (!body.is_object()) return fail(Errc::Corrupt, "the acknowledgement is not an object");
    HelloInfo info;
    DORMOUSE_TRY_ASSIGN(info.agent_version, text_field(body, "agent_version", kMaxName));
    DORMOUSE_TRY_ASSIGN(info.boot_id, text_field(body, "boot_id", kMaxName));
    DORMOUSE_TRY_ASSIGN(info.time_unix_ns, integer_field(body, "time_unix_ns"));
    const auto methods = body.find("methods");
    if (methods == body.end()) return info;
    if (!methods->is_array() || methods->size() > 1000)
        return fail(Errc::Corrupt, "\"methods\" is not a short list");
    for (const auto& name : *methods) {
        if (!name.is_string() || name.get_ref<const std::string&>().size() > kMaxName) {
            return fail(Errc::Corrupt, "\"methods\" holds something that is no name");
        }
        info.methods.push_back(name.get<std::string>());
    }
    return info;
}

json to_json(const Request& request) {
    return {{"method", request.method}, {"params", request.params}};
}

Result<Request> parse_request(const json& body) {
    if (!body.is_object()) return fail(Errc::Corrupt, "the request is not an object");
    Request request;
    DORMOUSE_TRY_ASSIGN(request.method, text_field(body, "method", kMaxName));
    const auto params = body.find("params");
    if (params == body.end() || !params->is_object())
        return fail(Errc::Corrupt, "\"params\" is not an object");
    request.params = *params;
    return request;
}

json outcome_to_json(const Result<json>& outcome) {
    if (outcome) return {{"result", *outcome}};
    return {{"error", {{"code", errc_name(outcome.error().code)}, {"message", outcome.error().message}}}};
}

Result<json> parse_outcome(const json& body) {
    if (!body.is_object()) return fail(Errc::Corrupt, "the answer is not an object");
    if (const auto result = body.find("result"); result != body.end()) return *result;
    const auto error = body.find("error");
    if (error == body.end() || !error->is_object())
        return fail(Errc::Corrupt, "the answer has no result and no error");
    DORMOUSE_TRY_ASSIGN(const auto code, text_field(*error, "code", kMaxName));
    DORMOUSE_TRY_ASSIGN(auto message, text_field(*error, "message", kMaxMessage));
    return fail(code_named(code), printable(std::move(message)));
}

std::string dump_json(const json& body) {
    return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<json> parse_json(std::string_view text) {
    if (too_deep(text)) return fail(Errc::Corrupt, "the JSON is nested too deep");
    auto body = json::parse(text, nullptr, false);
    if (body.is_discarded()) return fail(Errc::Corrupt, "this is not JSON");
    return body;
}

}  // namespace dormouse::guest

// SPDX-License-Identifier: Apache-2.0
#include "hostd/schema/exec.h"

#include <climits>

#include "hostd/schema/reader.h"

namespace dormouse::schema {

namespace {

constexpr std::string_view kCommandHint =
    "one line for the shell (\"ls -l\"), or a list of program and arguments ([\"ls\", \"-l\"])";
constexpr Range kAnyInt{INT_MIN, INT_MAX};
constexpr Range kCount{0, INT64_MAX};

bool has_zero(const std::string& text) {
    return text.find('\0') != std::string::npos;
}

void read_command(ObjectReader& in, ExecRequest& request) {
    const auto* command = in.take("command");
    if (!command) return in.problem().note_missing(in.path_of("command"), std::string{kCommandHint});
    if (command->is_string()) {
        request.shell = true;
        request.argv = {command->get<std::string>()};
        if (request.argv.front().empty() || has_zero(request.argv.front()))
            in.note("command", "must not be empty or hold a zero byte", std::string{kCommandHint});
        return;
    }
    if (!command->is_array())
        return in.note("command", "must be a string or a list", std::string{kCommandHint});
    in.list("command", {1, kMostArguments}, [&](const Json& item, std::string path) {
        if (!item.is_string() || has_zero(item.get<std::string>()))
            return in.problem().note(std::move(path), "must be a string without a zero byte");
        request.argv.push_back(item.get<std::string>());
    });
    if (!request.argv.empty() && request.argv.front().empty())
        in.note("command", "must begin with a program", std::string{kCommandHint});
}

void read_env(ObjectReader& in, ExecRequest& request) {
    const auto* env = in.take("env");
    if (!env->is_object()) return in.note("env", "must be an object of strings");
    for (const auto& [name, value] : env->items()) {
        const bool good_name = !name.empty() && name.find('=') == std::string::npos && !has_zero(name);
        if (!good_name || !value.is_string() || has_zero(value.get<std::string>()))
            return in.note("env", "must be an object of strings, and no name may hold '='");
        request.env[name] = value.get<std::string>();
    }
}

}  // namespace

std::string to_json(const ExecRequest& request) {
    Json json;
    json["command"] =
        request.shell && !request.argv.empty() ? Json(request.argv.front()) : Json(request.argv);
    json["user"] = request.user;
    if (request.directory) json["cwd"] = *request.directory;
    if (!request.env.empty()) json["env"] = request.env;
    if (request.input) json["stdin"] = *request.input;
    json["timeout"] = static_cast<double>(request.timeout.count()) / 1000;
    return write_json(json);
}

std::string to_json(const ExecResponse& response) {
    Json json;
    json["exit_code"] = response.exit_code ? Json(*response.exit_code) : Json();
    json["signal"] = response.signal ? Json(*response.signal) : Json();
    json["timed_out"] = response.timed_out;
    json["stdout"] = response.out;
    json["stderr"] = response.err;
    json["stdout_left_out"] = response.out_left_out;
    json["stderr_left_out"] = response.err_left_out;
    return write_json(json);
}

template <>
Result<ExecRequest> parse<ExecRequest>(std::string_view text) {
    return read_request<ExecRequest>(text, [](ObjectReader& in) {
        ExecRequest request;
        read_command(in, request);
        if (in.may_have("user")) request.user = in.word("user", {"desktop", "root"});
        if (in.may_have("cwd"))
            request.directory = in.text("cwd", {.most_bytes = 4096, .may_be_empty = false});
        if (in.may_have("env")) read_env(in, request);
        if (in.may_have("stdin")) request.input = in.text("stdin", {.most_bytes = 1 << 20});
        if (in.may_have("timeout")) {
            const auto seconds = in.number("timeout", 0.001, static_cast<double>(kLongestProgram.count()),
                                           "seconds, at most 600");
            request.timeout = std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1000)};
        }
        return request;
    });
}

template <>
Result<ExecResponse> parse<ExecResponse>(std::string_view text) {
    return read_answer<ExecResponse>(text, [](ObjectReader& in) {
        ExecResponse response;
        if (const auto code = in.optional_whole("exit_code", kAnyInt))
            response.exit_code = static_cast<int>(*code);
        if (const auto signal = in.optional_whole("signal", kAnyInt))
            response.signal = static_cast<int>(*signal);
        response.timed_out = in.boolean("timed_out");
        response.out = in.text("stdout", {.most_bytes = SIZE_MAX});
        response.err = in.text("stderr", {.most_bytes = SIZE_MAX});
        response.out_left_out = static_cast<std::uint64_t>(in.whole("stdout_left_out", kCount));
        response.err_left_out = static_cast<std::uint64_t>(in.whole("stderr_left_out", kCount));
        return response;
    });
}

}  // namespace dormouse::schema

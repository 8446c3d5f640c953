// SPDX-License-Identifier: Apache-2.0
// Programs that run inside: the part of Desktop that speaks of the shell.
#include "hostd/desktop/desktop.h"
#include "vmm/guest_channel.h"

namespace dormouse::desktop {

namespace {

using nlohmann::json;

// Beyond the program's own time: the agent kills it, and an emulated guest is slow to say so.
constexpr auto kAnswerGrace = std::chrono::seconds{30};

json to_params(RunProgram request) {
    json params;
    params["argv"] = std::move(request.argv);
    params["shell"] = request.shell;
    params["user"] = request.as_root ? "root" : "desktop";
    if (request.directory) params["cwd"] = std::move(*request.directory);
    if (!request.env.empty()) params["env"] = std::move(request.env);
    if (request.input) params["stdin"] = std::move(*request.input);
    params["timeout_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(request.timeout).count();
    return params;
}

// Said by the guest, which is hostile: only what has the right form is passed on.
Result<ProgramResult> read_result(json& answer) {
    try {
        ProgramResult result;
        if (!answer.at("exit_code").is_null()) result.exit_code = answer["exit_code"].get<int>();
        if (!answer.at("signal").is_null()) result.signal = answer["signal"].get<int>();
        result.timed_out = answer.at("timed_out").get<bool>();
        result.out = answer.at("stdout").get<std::string>();
        result.err = answer.at("stderr").get<std::string>();
        result.out_left_out = answer.at("stdout_left_out").get<std::uint64_t>();
        result.err_left_out = answer.at("stderr_left_out").get<std::uint64_t>();
        return result;
    } catch (const json::exception&) {
        return fail(Errc::Corrupt, "the agent in the desktop gave an answer that makes no sense");
    }
}

}  // namespace

Task<Result<ProgramResult>> Desktop::run_program(RunProgram request) {
    const auto self = shared_from_this();
    const auto machine = machine_;
    if (!machine || !machine->alive()) co_return fail(Errc::Unavailable, "the machine is gone");
    const auto timeout = request.timeout + kAnswerGrace;
    auto asked = machine->guest().request("exec", to_params(std::move(request)), timeout);
    auto answer = co_await std::move(asked);
    if (!answer) co_return fail_in("the agent in the desktop", answer.error());
    co_return read_result(*answer);
}

}  // namespace dormouse::desktop

// SPDX-License-Identifier: Apache-2.0
#include "vmm/keeper_protocol.h"

#include "vmm/json_fields.h"

namespace dormouse::vmm {

using nlohmann::json;

std::string ExitRecord::to_text() const {
    if (keeper_lost) return "the keeper was killed, and QEMU with it";
    return status.to_text();
}

json to_json(const ExitRecord& record) {
    return {{"pid", record.pid},
            {"exit_code", record.status.code},
            {"signal", record.status.signal},
            {"status", record.to_text()},  // for people; not read back
            {"stderr", record.stderr_tail},
            {"ended_at_ms", record.ended_at_ms},
            {"requested", record.requested},
            {"shutdown_reason", record.shutdown_reason},
            {"keeper_lost", record.keeper_lost}};
}

Result<ExitRecord> parse_exit_record(const json& value) {
    if (!value.is_object() || !field(value, "pid").is_number_integer())
        return fail(Errc::Corrupt, "an exit record without a pid");
    ExitRecord record;
    record.pid = static_cast<pid_t>(int_field(value, "pid"));
    record.status.code = static_cast<int>(int_field(value, "exit_code"));
    record.status.signal = static_cast<int>(int_field(value, "signal"));
    for (const auto& line : field(value, "stderr"))
        if (line.is_string()) record.stderr_tail.push_back(line.get<std::string>());
    record.ended_at_ms = int_field(value, "ended_at_ms");
    record.requested = bool_field(value, "requested");
    record.shutdown_reason = text_field(value, "shutdown_reason");
    record.keeper_lost = bool_field(value, "keeper_lost");
    return record;
}

json to_json(const LaunchFile& file) {
    return {{"id", file.id},
            {"identity", file.identity},
            {"argv", file.argv},
            {"env", file.env},
            {"run_folder", file.run_folder.string()},
            {"desktop_folder", file.desktop_folder.string()},
            {"qmp_socket", file.qmp_socket.string()},
            {"guest_socket", file.guest_socket.string()},
            {"timeout_ms", file.timeout_ms},
            {"netd_binary", file.netd_binary.string()},
            {"netd_config", file.netd_config}};
}

Result<LaunchFile> parse_launch_file(std::string_view text) {
    const auto value = parse_json(text);
    if (!value.is_object()) return fail(Errc::Corrupt, "the launch file is not a JSON object");
    LaunchFile file;
    file.id = text_field(value, "id");
    file.identity = text_field(value, "identity");
    for (const auto& argument : field(value, "argv")) {
        if (!argument.is_string())
            return fail(Errc::Corrupt, "the launch file's argv is not a list of strings");
        file.argv.push_back(argument.get<std::string>());
    }
    if (const auto& env = field(value, "env"); env.is_object()) {
        for (const auto& [name, setting] : env.items())
            if (setting.is_string()) file.env.emplace(name, setting.get<std::string>());
    }
    file.run_folder = text_field(value, "run_folder");
    file.desktop_folder = text_field(value, "desktop_folder");
    file.qmp_socket = text_field(value, "qmp_socket");
    file.guest_socket = text_field(value, "guest_socket");
    file.timeout_ms = int_field(value, "timeout_ms", file.timeout_ms);
    file.netd_binary = text_field(value, "netd_binary");
    file.netd_config = field(value, "netd_config");
    if (file.argv.empty() || file.run_folder.empty() || file.desktop_folder.empty() ||
        file.qmp_socket.empty())
        return fail(Errc::Corrupt, "the launch file lacks argv, run_folder, desktop_folder or qmp_socket");
    return file;
}

json to_json(const KeeperHello& hello) {
    return {{"type", "hello"},
            {"protocol", hello.protocol},
            {"keeper_pid", hello.keeper_pid},
            {"qemu_pid", hello.qemu_pid},
            {"ready", hello.ready},
            {"identity", hello.identity},
            {"desktop_folder", hello.desktop_folder},
            {"qemu_version", hello.qemu_version}};
}

Result<KeeperHello> parse_hello(const json& value) {
    KeeperHello hello;
    hello.protocol = static_cast<int>(int_field(value, "protocol"));
    hello.keeper_pid = static_cast<pid_t>(int_field(value, "keeper_pid", -1));
    hello.qemu_pid = static_cast<pid_t>(int_field(value, "qemu_pid", -1));
    hello.ready = bool_field(value, "ready");
    hello.identity = text_field(value, "identity");
    hello.desktop_folder = text_field(value, "desktop_folder");
    hello.qemu_version = text_field(value, "qemu_version");
    if (hello.protocol != kKeeperProtocol)
        return fail(
            Errc::Conflict,
            fmt::format("the keeper speaks protocol {}, this daemon {}", hello.protocol, kKeeperProtocol),
            "stop the desktop with the version of dormouse that started it");
    if (hello.keeper_pid <= 1 || hello.qemu_pid <= 1)
        return fail(Errc::Corrupt, "the keeper's hello names no process");
    return hello;
}

}  // namespace dormouse::vmm

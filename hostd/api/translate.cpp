// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/translate.h"

#include <algorithm>
#include <iterator>

namespace dormouse::api {

Result<desktop::CreateDesktop> to_command(const schema::CreateDesktopRequest& request) {
    DORMOUSE_TRY_ASSIGN(auto image, TemplateName::parse(request.image));
    DORMOUSE_TRY_ASSIGN(const auto mode, net::parse_mode(request.network.value_or(schema::Network{}).mode));
    desktop::CreateDesktop command{.name = {}, .image = std::move(image), .network = mode};
    if (request.name) {
        DORMOUSE_TRY_ASSIGN(command.name, DesktopName::parse(*request.name));
    }
    return command;
}

Result<desktop::CreateToken> to_command(const schema::CreateTokenRequest& request) {
    DORMOUSE_TRY_ASSIGN(const auto scope, desktop::parse_scope(request.scope));
    return desktop::CreateToken{.name = request.name, .scope = scope};
}

desktop::RunProgram to_command(const std::string& desktop, schema::ExecRequest request) {
    return {.desktop = desktop,
            .argv = std::move(request.argv),
            .shell = request.shell,
            .as_root = request.user == "root",
            .directory = std::move(request.directory),
            .env = std::move(request.env),
            .input = std::move(request.input),
            .timeout = request.timeout};
}

schema::ExecResponse to_schema(const desktop::ProgramResult& result) {
    return {.exit_code = result.exit_code,
            .signal = result.signal,
            .timed_out = result.timed_out,
            .out = result.out,
            .err = result.err,
            .out_left_out = result.out_left_out,
            .err_left_out = result.err_left_out};
}

schema::Desktop to_schema(const desktop::DesktopInfo& info) {
    schema::Desktop out;
    out.id = info.id.str();
    out.name = info.name.str();
    out.image = info.image.str();
    out.state = desktop::state_name(info.state);
    out.reason = info.reason;
    out.ready = info.ready;
    out.created_at = info.created_at;
    out.started_at = info.started_at;
    out.screen = {.width = info.screen_width, .height = info.screen_height};
    out.memory_mib = info.memory_mib;
    out.cpus = info.cpus;
    out.accelerator = info.accelerator;
    if (info.exit)
        out.exit = schema::Exit{.status = info.exit->status, .last_output = info.exit->last_output};
    out.network.mode = net::mode_name(info.network);
    return out;
}

schema::DestinationList to_schema(const std::vector<desktop::DestinationInfo>& destinations) {
    schema::DestinationList list;
    for (const auto& one : destinations)
        list.destinations.push_back({.name = one.name,
                                     .address = one.address,
                                     .port = one.port,
                                     .protocol = one.protocol,
                                     .verdict = one.verdict,
                                     .reason = one.reason,
                                     .first_at = one.first_at,
                                     .last_at = one.last_at,
                                     .connections = one.connections,
                                     .bytes_sent = one.bytes_sent,
                                     .bytes_received = one.bytes_received});
    return list;
}

schema::DesktopList to_schema(const std::vector<desktop::DesktopInfo>& desktops) {
    schema::DesktopList list;
    for (const auto& info : desktops) list.desktops.push_back(to_schema(info));
    return list;
}

schema::Token to_schema(const desktop::TokenInfo& info) {
    return {.id = info.id.str(),
            .name = info.name,
            .scope = std::string{desktop::scope_name(info.scope)},
            .created_at = info.created_at,
            .last_used_at = info.last_used_at};
}

schema::TokenList to_schema(const std::vector<desktop::TokenInfo>& tokens) {
    schema::TokenList list;
    for (const auto& info : tokens) list.tokens.push_back(to_schema(info));
    return list;
}

schema::NewToken to_schema(const desktop::NewToken& token) {
    return {.token = to_schema(token.info), .secret = Secret{token.secret}};
}

schema::Version to_schema(const desktop::VersionInfo& info) {
    return {.version = info.version,
            .api = "v1",
            .qemu = info.qemu,
            .accelerator = info.accelerator,
            .accelerator_reason = info.accelerator_reason};
}

}  // namespace dormouse::api

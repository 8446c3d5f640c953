// SPDX-License-Identifier: Apache-2.0
#include "hostd/api/translate.h"

#include <algorithm>
#include <iterator>

namespace dormouse::api {

Result<desktop::CreateDesktop> to_command(const schema::CreateDesktopRequest& request) {
    DORMOUSE_TRY_ASSIGN(auto image, TemplateName::parse(request.image));
    DORMOUSE_TRY_ASSIGN(const auto mode, net::parse_mode(request.network.value_or(schema::Network{}).mode));
    desktop::CreateDesktop command{
        .name = {}, .image = std::move(image), .network = mode, .labels = request.labels};
    if (request.name) {
        DORMOUSE_TRY_ASSIGN(command.name, DesktopName::parse(*request.name));
    }
    return command;
}

Result<desktop::Command> to_command(std::string desktop, const schema::UpdateDesktopRequest& request) {
    desktop::UpdateDesktop command{
        .desktop = std::move(desktop), .name = {}, .labels = request.labels, .network = {}};
    if (request.name) {
        DORMOUSE_TRY_ASSIGN(command.name, DesktopName::parse(*request.name));
    }
    if (request.network) {
        DORMOUSE_TRY_ASSIGN(command.network, net::parse_mode(request.network->mode));
    }
    return command;
}

Result<desktop::CreateToken> to_command(const schema::CreateTokenRequest& request) {
    DORMOUSE_TRY_ASSIGN(const auto scope, desktop::parse_scope(request.scope));
    desktop::CreateToken command{
        .name = request.name, .scope = scope, .limits = {}, .expires_at = request.expires_at};
    command.limits.desktops = request.limits.desktops;
    if (request.limits.label) {
        DORMOUSE_TRY_ASSIGN(command.limits.label, parse_label_filter(*request.limits.label));
    }
    for (const auto& name : request.limits.commands) {
        const auto group = desktop::parse_group(name);
        if (!group) return fail_in("commands", group.error());
        command.limits.groups.insert(*group);
    }
    return command;
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
    out.labels = info.labels;
    out.state = desktop::state_name(info.state);
    out.reason = info.reason;
    out.ready = info.ready;
    out.created_at = info.created_at;
    out.updated_at = info.updated_at;
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

schema::DesktopList to_schema(const desktop::DesktopPage& page) {
    schema::DesktopList list;
    for (const auto& info : page.desktops) list.desktops.push_back(to_schema(info));
    list.next_cursor = page.next_cursor;
    return list;
}

schema::Token to_schema(const desktop::TokenInfo& info) {
    schema::Token token{.id = info.id.str(),
                        .name = info.name,
                        .scope = std::string{desktop::scope_name(info.scope)},
                        .limits = {},
                        .created_at = info.created_at,
                        .last_used_at = info.last_used_at,
                        .expires_at = info.expires_at};
    token.limits.desktops = info.limits.desktops;
    if (info.limits.label)
        token.limits.label =
            fmt::format("{}={}", info.limits.label->key, info.limits.label->value.value_or(""));
    for (const auto group : info.limits.groups)
        token.limits.commands.emplace_back(desktop::group_name(group));
    return token;
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

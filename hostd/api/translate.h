// SPDX-License-Identifier: Apache-2.0
// Between what the API says and what the domain says. Plain values, any thread.
#pragma once

#include <string>
#include <vector>

#include "hostd/desktop/commands.h"
#include "hostd/desktop/gateway.h"
#include "hostd/schema/schema.h"

namespace dormouse::api {

// From requests that schema::parse has accepted.
desktop::Action to_command(const schema::Action& action);
desktop::PictureOptions to_command(const schema::PictureOptions& options);
desktop::ActOptions options_of(const schema::ActionsRequest& request);
Result<desktop::CreateDesktop> to_command(const schema::CreateDesktopRequest& request);
Result<desktop::Command> to_command(std::string desktop, const schema::UpdateDesktopRequest& request);
Result<desktop::CreateToken> to_command(const schema::CreateTokenRequest& request);

desktop::RunProgram to_command(const std::string& desktop, schema::ExecRequest request);

schema::Desktop to_schema(const desktop::DesktopInfo& info);
schema::DesktopList to_schema(const desktop::DesktopPage& page);
schema::Event to_schema(const desktop::Event& event);
schema::AuditPage to_schema(const desktop::AuditPage& page);
schema::DestinationList to_schema(const std::vector<desktop::DestinationInfo>& destinations);
schema::ActionsResponse to_schema(const desktop::ActAnswer& answer);
schema::ExecResponse to_schema(const desktop::ProgramResult& result);
schema::Operation to_schema(const desktop::OperationInfo& info);
schema::OperationList to_schema(const std::vector<desktop::OperationInfo>& operations);
schema::OperationLog to_schema(const desktop::OperationLog& log);
// translate_templates.cpp
Result<desktop::BuildTemplate> to_command(const schema::BuildTemplateRequest& request);
schema::Template to_schema(const desktop::TemplateInfo& info);
schema::TemplateList to_schema(const std::vector<desktop::TemplateInfo>& templates);

schema::Token to_schema(const desktop::TokenInfo& info);
schema::TokenList to_schema(const std::vector<desktop::TokenInfo>& tokens);
schema::NewToken to_schema(const desktop::NewToken& token);
schema::Version to_schema(const desktop::VersionInfo& info);

}  // namespace dormouse::api
